"""Help with a gap in four steps, each of which leaves less to be found.

0  the question itself
1  what such a part is for, or where to look
2  a form to fill in
3  the form with the person's own words in it, so that little is left to say
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deepnb.tutoring.gaps import Gap, GapKind

LAST = 3

_HINTS: dict[GapKind, tuple[str, str, str]] = {
    "no thesis": (
        "A thesis is one sentence that somebody could deny. Who would be annoyed by yours?",
        "Fill in: “___ should ___, because ___.” What comes there?",
        (
            "Take the thing you care about most here, say what should be done about it, and end "
            "with your reason: “___ should ___, because ___.” Write it down as it comes."
        ),
    ),
    "vague thesis": (
        "Think of a person who would say no to it. To which word would they say no?",
        (
            "Fill in: “Of all that is said about it, it is true that ___, and false that ___.” "
            "What comes there?"
        ),
        (
            "Begin with your own words, “{about}”, leave out what everybody would grant, and go "
            "on with “and therefore ___ should ___”. What is left?"
        ),
    ),
    "no clause": (
        (
            "A clause is a reason that somebody could accept who does not accept the thesis yet. "
            "What would such a person grant you?"
        ),
        "Fill in: “This holds, because ___.” What comes behind the because?",
        "Write: “{about}, because ___.” The blank is the reason that you would give up last.",
    ),
    "undefined term": (
        (
            "A definition says what belongs to a thing and what does not. What is nearly that, "
            "and is not?"
        ),
        "Fill in: “By ___ I mean a ___ that ___, and not ___.” What comes there?",
        (
            "Write: “By {about} I mean ___, and not ___.” Put what it is nearly always taken for "
            "behind the not."
        ),
    ),
    "no evidence": (
        (
            "Evidence is what you would show to somebody who does not believe you. Would it be a "
            "number, a case, or the words of a witness?"
        ),
        "Fill in: “In [[___]] it says that ___.” Which file comes there?",
        (
            "Search your files for the rarest word of “{about}”, and write behind the clause: "
            "“[[___]] says: ___.”"
        ),
    ),
    "no refutation": (
        (
            "Think of somebody who loses something if you are right. What do they know that you "
            "do not?"
        ),
        "Fill in: “Even if your clauses are true, ___, because ___.” What comes there?",
        (
            "Take your weakest clause, say the opposite of it, and give the best reason there is "
            "for that: “Those who deny that {about} can say: ___, because ___.”"
        ),
    ),
    "straw man": (
        "A refutation has a reason of its own. Which of your clauses does it strike?",
        ("Fill in: “They grant that ___, and yet hold that ___, because ___.” What comes there?"),
        (
            "Begin with “{about}”, add “because ___” with the reason of somebody you respect, and "
            "make it as long as one of your clauses."
        ),
    ),
    "no reply": (
        ("A reply uses what is on the table already. Which of your clauses has an answer to it?"),
        ("Fill in: “It is true that ___; but clause ___ says ___, and so ___.” What comes there?"),
        (
            "Grant what is right about “{about}”, name the clause that it does not touch, and say "
            "why that one is enough: “Even so, ___.”"
        ),
    ),
    "new evidence": (
        (
            "Whoever disagrees has had no chance to answer what only the reply brings. Where "
            "could they have answered it?"
        ),
        "Fill in: “Clause ___ rests on this.” Which number comes there?",
        (
            "Move “{about}” to the clause it supports, or write that clause, and let the reply "
            "point to it."
        ),
    ),
    "no conclusion": (
        (
            "A conclusion adds nothing and loses nothing. Which part of the thesis had to be "
            "narrowed?"
        ),
        "Fill in: “If ___ and ___, then ___, even though ___.” What comes there?",
        (
            "Write: “Even though ___, {about}.” Put the refutation into the blank, and leave out "
            "of the thesis what did not survive it."
        ),
    ),
}


def hint(gap: Gap, level: int) -> str:
    """Give the help of a step; below the first it is the first, above the last the last."""
    if level <= 0:
        return gap.question
    about = gap.about or "___"
    return _HINTS[gap.kind][min(level, LAST) - 1].replace("{about}", about)
