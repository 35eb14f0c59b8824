"""What is said in the middle of a dialogue: an answer, a call for help, or something else."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.tutor.documents import offer
from deepnb.agents.tutor.prompts import ARGUMENT
from deepnb.agents.tutor.reaching import titles
from deepnb.agents.tutor.standing import Standing
from deepnb.agents.tutor.taking import answered, part_of, with_parts
from deepnb.files.namespace import FILES
from deepnb.keywords import words
from deepnb.models.offline import moves
from deepnb.models.offline.answer import SIGN
from deepnb.models.offline.request import understand
from deepnb.models.offline.save import put
from deepnb.tutoring import rules
from deepnb.tutoring.asked import asked
from deepnb.tutoring.beside import Whom, asks_of_the_answer, hear
from deepnb.tutoring.citing import cited, mentioned, resolve
from deepnb.tutoring.document import parse, write
from deepnb.tutoring.gaps import FLAWED, gaps
from deepnb.tutoring.hints import LAST, hint
from deepnb.tutoring.intent import asks_for_help, asks_to_be_told, intent, order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.models.offline.turn import Turn
    from deepnb.tutoring.document import Row
    from deepnb.tutoring.gaps import Gap

_NO_ANSWERS = "I know no answers, for I have only rules. This is as far as they go."
_TO_JUDGE = "That is for you to judge, and for me to ask about."
_CANNOT = "I cannot do that without a language model. I can ask, until the argument is yours."
_FOR_WHAT = "Name what to look for, as in \u201cSearch my files for mentions of rain\u201d."
_REMARKS: dict[Whom, str] = {
    "self": "That it is hard says nothing against you, and nothing is lost: one small step is "
    "enough.",
    "work": "How good it is, no rule can say, and it need not be finished at once: one small step "
    "is enough.",
    "tutor": "I have only rules, which see no meaning, so they may well miss what you need.",
}
_IS_THERE = "That part is there, and no rule can see more; whether it is good is for you to judge."
_WHAT_COUNTS = (
    "I have not taken that down. It names no file of yours, and has no number, quotation or source "
    "in it, one of which would count. Say it once more, and I take it down as it is."
)
HOW_TO_CHANGE = "To change a part, begin with its name, for example \u201cReply: \u2026\u201d."

# What is meant as a demand: "for example" may also begin an answer.
_DEMANDS = re.compile(
    r"(?i)\W*(?:(?:please|ok|okay|no|well|but|so|then|can you|could you|would you)\b[\s,]*)*"
    r"(?:just|tell|give|show|say|what|how|why|i(?: am|['\u2019]m| have)? (?:give|gave|given|stuck"
    r"|cannot|can['\u2019]t|don['\u2019]t|want|need)|(?:an|for) example\W*\Z|the answer\W*\Z)\b"
)
_TALK = re.compile(
    r"(?i)\W*(?:yes|yeah|no|nope|thanks|thank you|thx|ok|okay|great|good|fine|hello|hi|hey|bye|"
    r"right|exactly)\b[^?]{0,20}"
)
_ANEW = re.compile(
    r"(?i)\W*(?:(?:please|let['\u2019]?s|let us|can we|i want to)\s+)*(?:start|begin)\s+"
    r"(?:over|again|anew|from scratch)\W*"
)
_ANOTHER = re.compile(
    r"(?i)\W*(?:(?:i|we)\b[^.?!]{0,20}\b(?:want|need|have|like|going|plan|trying) to (?:write|talk|"
    r"work|learn|think|read|discuss)\b|let['\u2019]?s (?:talk|write|work|think|speak)\b"
    r"|(?:i am|i['\u2019]m) interested in\b).*"
)
_TAKES_BACK = re.compile(
    r"(?is)\W*(?:(?:wait|no|actually|well|sorry|oh|but)\b[\s,]*)*(?:(?:i|let me)\b[^.:;]{0,20}"
    r"(?:\bchanged? (?:my|the)|\bmeant something else|\btake (?:it|that) back)\b.*"
    r"|(?:go|step) back\W*|undo\b.{0,20}|stop(?: (?:it|this|now|asking)\b.*)?\W*)"
)
_OTHERWISE = "To begin with something else, say \u201cStart over\u201d."
# Questions that need no question mark to be told from an answer: "What can be printed is printed."
_ASKS = re.compile(r"(?i)\W*(?:who|explain|define|name|tell me)\b")
_OF_THE_TEXT = re.compile(r"(?i)\b(?:thesis|clauses?|refutation|reply|conclusion|argument)\b")
_TO_THE_TUTOR = re.compile(r"(?i)\W*(?:why|what|who|how)\b[^?]*\b(?:are|do|did|can) you\b")
_LOOKING = (
    *("collect", "count", "extract", "find", "highlight", "list"),
    *("look", "open", "quote", "read", "search", "show"),
)
_BEGINNING = ("ask", "challenge", "help", "play", "quiz", "start", "test", "work")
_LONGEST_PART, _LONGEST_TEXT = 2_000, 20_000
_MOST_NAMED = 10


def go_on(turn: Turn, now: Standing) -> str:
    """Reply to what was said in a dialogue."""
    said = turn.request
    if asks_for_help(said):
        return _helped(now)
    if _ANEW.fullmatch(said):
        return taken(turn, "The argument is forgotten. Your files are as they were.", [])
    if _is_demand(said):
        return _remarked(hear(said).beside, _told(now))
    return beside(turn, now) or _all_of_a_kind(turn, now)


def _all_of_a_kind(turn: Turn, now: Standing) -> str:
    """Reply to what is a request, or a question, or an answer."""
    said = turn.request
    if order(said) or said.endswith("?") or _ASKS.match(said):
        return aside(turn, now)
    if _TAKES_BACK.fullmatch(said):
        return f"I have taken nothing down. {HOW_TO_CHANGE} {_OTHERWISE}\n\n{now.question}".rstrip()
    if _ANOTHER.match(said) and intent(said).kind == "clarify":
        return f"{_OTHERWISE}\n\n{now.question}"
    return take(turn, now)


def beside(turn: Turn, now: Standing) -> str:
    """Reply to what is not all about the matter; empty if it is, or only asks something.

    What is to the matter is taken down, and what else was said is not passed over.
    """
    matter, question, whom = hear(turn.request)
    if (question or whom) and _is_answer(matter, now):
        return _remarked(whom, take(turn.asking(matter), now, question))
    if not whom or order(matter):
        return ""
    if question and not asks_of_the_answer(question):
        return _remarked(whom, aside(turn.asking(question), now))
    if now.is_open:
        return _remarked(whom, _helped(now))
    # Who wants help, or a better text, is asked which.
    return _remarked(whom, now.question) if whom in ("self", "tutor") else ""


def _remarked(whom: Whom | None, text: str) -> str:
    return f"{_REMARKS[whom]}\n\n{text}" if whom in _REMARKS else text


def _is_answer(said: str, now: Standing) -> bool:
    """Whether something is said that could be a part of the argument, or begin one."""
    is_request = order(said) or _ASKS.match(said) or _ANOTHER.match(said)
    is_claim = now.is_open or intent(said).kind == "clear"
    return bool(words(said)) and is_claim and not is_request and not _TALK.fullmatch(said)


def _is_demand(said: str) -> bool:
    """Whether the answer is asked for that was theirs to find: not a search, nor a fact."""
    if not asks_to_be_told(said) or not _DEMANDS.match(said) or order(said) in _LOOKING:
        return False
    return not (said.endswith("?") and intent(said).kind == "factual")


def _helped(now: Standing) -> str:
    if now.gap is None:
        return f"Nothing is missing by the rules, so there is no hint to give. {HOW_TO_CHANGE}"
    last = "There is no further hint than this one.\n\n" if now.level >= LAST else ""
    return last + hint(now.gap, max(now.level, 0) + 1)


def _told(now: Standing) -> str:
    return f"{_NO_ANSWERS}\n\n{hint(now.gap, LAST)}" if now.gap else _helped(now)


# Answers


def take(turn: Turn, now: Standing, question: str = "") -> str:
    """Take down what was said as the part that was asked for; a question may come behind it."""
    gap, said = now.gap, turn.request
    if gap is None:
        return f"The argument is complete by the rules. {HOW_TO_CHANGE}"
    if not words(said) or _TALK.fullmatch(said):
        return gap.question
    if len(said) > _LONGEST_PART:
        return (
            f"That is {len(said):,} characters, and too long for one part of an argument. Say the "
            f"core of it in a sentence or two.\n\n{gap.question}"
        )
    if wrong := _wrong_citation(turn, said):
        return f"{wrong}\n\n{gap.question}"
    if gap.kind == "no evidence":
        if file := resolve(said.strip(" ."), titles(turn)):
            said = f"[[{PurePosixPath(file[0]).stem}]]"
        elif not rules.has_evidence(said) and not mentioned(said, titles(turn)):
            again = f"{_WHAT_COUNTS}\n\n{gap.question}"
            if not any(again in reply for _, reply in turn.earlier):
                return again
    ack = f"I have taken that down as {_called(gap)}."
    return taken(turn, ack, answered(now.argument, gap, said), question)


def take_parts(turn: Turn, now: Standing, parts: Sequence[Row]) -> str:
    """Take down parts that the person has named themselves."""
    if len(turn.request) > _LONGEST_TEXT:
        return (
            f"That is {len(turn.request):,} characters, and too long to be taken down from here. "
            "Put it into your files, and ask me to go through a draft of yours."
        )
    if wrong := _wrong_citation(turn, turn.request):
        return wrong
    names = ", ".join(dict.fromkeys(row.kind for row in parts))
    ack = f"I have taken that down: {names}."
    return taken(turn, ack, with_parts(now.argument, parts, turn.request))


def taken(turn: Turn, ack: str, rows: Sequence[Row], question: str = "") -> str:
    """Write the argument down, answer a question about it, and ask what it needs next."""
    text = write(rows)
    _, problem = put(turn, ARGUMENT, text)
    if problem:
        return f"I could not take that down: {problem}"
    argument = parse(text)
    gap = next(iter(gaps(argument)), None)
    if question and not asks_of_the_answer(question):
        return f"{ack}\n\n{aside(turn.asking(question), Standing(argument, gap, level=0))}"
    if gap and gap.kind in FLAWED:
        return f"{ack} {gap.why}\n\n{gap.question}"
    is_there = f" {_IS_THERE}" if question else ""
    return f"{ack}{is_there}\n\n{gap.question if gap else offer(argument)}"


def _called(gap: Gap) -> str:
    kind, number = part_of(gap), gap.clause or 1
    names = {
        "clause": f"clause {number}",
        "evidence": f"evidence for clause {number}",
        "definition": f"your definition of \u201c{gap.about}\u201d",
        "refutation": "the refutation",
    }
    return names.get(kind, f"your {kind}")


def _wrong_citation(turn: Turn, said: str) -> str:
    """What is wrong with a citation: a tutor takes down none that leads nowhere."""
    known = titles(turn) if cited(said) else []
    found = rules.citations(said, known) if cited(said) else []
    if not found:
        return ""
    some = ", ".join(f"[[{PurePosixPath(title).stem}]]" for title in known[:_MOST_NAMED])
    there = f"There are: {some}." if some else "There are no files yet."
    return f"I have not taken that down. [[{found[0].text}]]: {found[0].why} {there}"


# Beside the dialogue


def aside(turn: Turn, now: Standing) -> str:
    """Do what was asked for, and come back to the question that is open."""
    said, verb = turn.request, order(turn.request)
    kind = intent(said).kind
    is_fact = kind == "factual" and not _TO_THE_TUTOR.match(said)
    is_search = verb in _LOOKING or understand(said).kind in ("files", "count", "mentions")
    if is_fact or (is_search and kind != "clarify"):
        return back(now, looked_up(turn))
    if verb == "check" or (now.is_open and not verb and _OF_THE_TEXT.search(said)):
        return back(now, checked(turn, now))
    if verb in _BEGINNING:
        return now.question or HOW_TO_CHANGE
    if verb:
        text = _FOR_WHAT if is_search else _CANNOT
    elif now.gap and now.is_open:
        text = f"I ask by a rule, which says: {now.gap.why}"
    else:
        text = _TO_JUDGE
    return f"{text}\n\n{now.question or HOW_TO_CHANGE}"


def back(now: Standing, text: str) -> str:
    """A text, and the open question behind it, unless it asks something itself."""
    is_due = now.is_open and now.question and not asked(text)
    return f"{text}\n\nBack to your argument: {now.question}" if is_due else text


def looked_up(turn: Turn) -> str:
    """What the files have on a request, in quotes, as the offline model finds it."""
    return moves.reply(turn).partition(f"\n\n{SIGN}")[0]


def checked(turn: Turn, now: Standing) -> str:
    """What the rules find in a document that was named, or in the argument as it is."""
    named = cited(turn.request)
    files = understand(turn.request, [FILES + title for title in titles(turn)]).files
    if not named and not files and not now.argument.rows:
        return "There is no argument to check yet. Name a file of yours, as in [[File title]]."
    path = f"[[{named[0].title}]]" if named else files[0] if files else ARGUMENT
    answers = turn.do(turn.call("check", path=path), note=False)
    return answers[0].text.removeprefix("Error: ") if answers else "I have no tool to check it."
