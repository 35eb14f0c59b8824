"""Whether a reply gives away what the person was to find.

What they were to find is known by the gap that is open: a term to define, an objection to think of.
A reply gives it away if it says so ("Your thesis should be …"), if it asks in a way that has only
one answer ("Isn't it because …"), or if one of its sentences is what the gap lacks. It does not
where the person has asked to be told, at the last step of the hints, where it leaves a blank, and
where it says again what the person has said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from deepnb.citations.numbers import numbers
from deepnb.keywords import terms
from deepnb.sentences import spans
from deepnb.tutoring.citing import cited
from deepnb.tutoring.english import is_foreign
from deepnb.tutoring.intent import asks_to_be_told
from deepnb.tutoring.own_words import NAME, without_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LAST_STEP = 3
"""Of the hints: there the person is nearly told, and that is no mistake."""

_PARTS = (
    r"(?:thesis|claim|clause|definition|refutation|objection|counter-?argument|reply|answer|"
    r"conclusion|reason|version)"
)
_PRESENTS = re.compile(
    rf"""(?ix)
    \b(?:your|the|my|a\ (?:better|sharper|clearer|stronger|good)|one)\ (?:\w+\ )?{_PARTS}
      (?:\ (?:should|could|would|might)\ be\b(?!\ (?:a|an|one|about|short|shorter)\b)|
      \ is(?:\ simple)?(?::|\ that\b|,\ that\b)|\s*:)
  | \A\W*(?:then\ |just\ )?(?:say|argue|claim|write|answer|reply|point\ out|tell\ (?:them|him|
      her|the\ \w+))\ that\b
  | \b(?:which|that|this)\ is\ (?:probably\ |perhaps\ |surely\ )?your\ (?:\w+\ )?{_PARTS}
  | \bhere\ is\ (?:a|an|the|your|my|one)\b
  | \blet\ me\ (?:write|say|put|formulate|answer)\ (?:it|that|this)\ (?:for\ you|instead)
  | \byou\ (?:could|should|can|might|may)\ (?:\w+\ )?(?:say|write|reply|answer|argue|cite|end|
      close|conclude|quote|begin|claim)
      \b[^.?!]{{0,30}}?(?:\bthat\b|:|\bwith\b|\[\[)
  | \bhow\ about\ (?:this)?\s*[:"\u201c]
  | \b(?:perhaps|maybe|try|something\ like)(?:\ (?:this|
      something\ like))?:?\s*["\u201c]\w+(?:\s\w+){{3}}
  | \bi\ would\ (?:close|say|argue|write|end|reply|answer|define)\b
  | \b(?:the\ reason\ is|it\ is\ because|this\ is\ because|that\ is\ because)\b
    """
)
_LEADS = re.compile(
    r"(?i)\W*(?:(?:is|are|was|does|do|did|would|could|should)n['\u2019]t\b|could it be that\b"
    r"|what about the fact that\b"
    r"|would you (?:not )?(?:say|agree) that\b|is it not\b)"
)
_BLANK = re.compile(r"_{2,}|\u2026|\.\.\.|\[\s*\]")
_SAYS_AGAIN = re.compile(
    r"(?i)\W*(?:so |then |now )?(?:you (?:said|say|wrote|write|call|claim|hold|have said)|"
    r"as you (?:said|say))\b"
)
_OF_THE_METHOD = re.compile(
    r"(?i)\W*an? (?:thesis|claim|clause|definition|refutation|objection|reply|conclusion|"
    r"argument|number|"
    r"reason|question|term)\b"
)
_ABOUT_THE_WORD = re.compile(r"(?i)\b(?:is|are) (?:the|a) (?:word|term|question|part)\b")
_DEFINES = re.compile(
    r"(?i)\W*(?:(?:let['\u2019]?s say|let us say|well|so|say|basically|usually)\b[\s,]*)?"
    r"(?:by (?P<by>[^,.;]{1,40}?) (?:we|i|you|one) means?\b"
    r"|(?:an?\s|the\s)?(?P<term>[^,.;?]{1,40}?)(?:,[^,.;?]{1,40},)?\W{0,2}"
    r"\s(?:here )?(?:is|are|means?|refers? to|denotes?)\s\w)"
)
_OBJECTS = re.compile(
    r"(?i)\b(?:critics?|opponents?|some(?: \w+)?|others|people|somebody|someone|many|"
    r"\w+(?:ists|ians|ers|ors|ics))\s(?:would |might |could |may |will |often |also )?"
    r"(?:say|argue|object|hold|claim|reply|answer|point out|think|believe|maintain|insist|fear)s?\b"
    r"|\b(?:would|will|might) (?:tell|warn|remind) you that\b"
)
_CONCLUDES = re.compile(
    r"(?i)\W*(?:so,? )?(?:to sum up|in conclusion|in sum|in short|all in all|therefore|thus|"
    r"hence)\b"
)
_ANSWERS = re.compile(r"(?i)\W*(?:but|yet|however|even so|still|the objection|that objection)\b")
_DEMANDS = re.compile(r"(?i)\b(?:should|must|ought to|need to|may not|cannot)\b")
_SHOWS = re.compile(
    r"(?i)\b(?:study|survey|experiment|report|census)\b.{0,40}\b(?:show|found|find|prove)"
    r"|\bis an? (?:good |clear |famous )?example\b|\baccording to\b"
)
_ENUMERATES = re.compile(r"(?i)\W*(?:first|second|third|because)\b,?\s\w")
_FEWEST_NEW = 4  # terms that a sentence adds to what was said: fewer are no reason yet
_FEW_NEW = 2
_ROOT = 5  # letters
_ECHO = 0.8  # of a sentence's terms: then it is what the person has said


class Dialogue(NamedTuple):
    """What a reply answers.

    Attributes:
        said: What the person has said so far, the last of it last.
        gap: The kind of the gap that is open, as `deepnb.tutoring.gaps` names it.
        level: The step of the hints that it is at.
    """

    said: Sequence[str]
    gap: str = ""
    level: int = 0


def given_away(reply: str, dialogue: Dialogue) -> Iterator[tuple[int, int, str]]:
    """Where a reply gives something away, and why that is thought."""
    is_asked = bool(dialogue.said) and asks_to_be_told(dialogue.said[-1])
    if dialogue.level >= LAST_STEP or is_asked or is_foreign(reply):
        return
    said = " ".join(dialogue.said)
    own = without_code(reply)
    for start, end in spans(own):
        sentence = own[start:end]
        if _BLANK.search(sentence) or _is_said(sentence, said) or _OF_THE_METHOD.match(sentence):
            continue
        if why := _why(sentence, said, dialogue.gap):
            yield start, end, why


def _is_said(sentence: str, said: str) -> bool:
    mine, theirs = set(terms(sentence)), set(terms(said))
    is_echo = bool(mine) and len(mine & theirs) >= _ECHO * len(mine)
    return is_echo or _SAYS_AGAIN.match(sentence) is not None


def _why(sentence: str, said: str, gap: str) -> str:
    if _PRESENTS.search(sentence):
        return "It says what the person was to find."
    if _LEADS.match(sentence):
        return "It asks in a way that has only one answer."
    if sentence.rstrip().endswith("?") or gap not in _LACKS:
        return ""
    is_it, why = _LACKS[gap]
    return why if is_it(sentence, said) else ""


def _is_definition(sentence: str, said: str) -> bool:
    match = _DEFINES.match(sentence)
    if match is None or _ABOUT_THE_WORD.search(sentence):
        return False
    term, known = terms(match["by"] or match["term"]), terms(said)
    # Scarcity is defined where the person has said "scarce".
    return bool(term) and all(any(one[:_ROOT] == each[:_ROOT] for each in known) for one in term)


def _is_objection(sentence: str, said: str) -> bool:
    return _OBJECTS.search(sentence) is not None


def _is_evidence(sentence: str, said: str) -> bool:
    is_new = bool(cited(sentence)) or not numbers(sentence) <= numbers(said)
    names = any(name[0].lower() not in said.lower() for name in NAME.finditer(sentence))
    return is_new or names or _SHOWS.search(sentence) is not None


def _is_reason(sentence: str, said: str) -> bool:
    found, known = terms(sentence), set(terms(said))
    adds = _adds(sentence, said) >= _FEWEST_NEW
    return adds and (found[0] in known or _ENUMERATES.match(sentence) is not None)


def _is_conclusion(sentence: str, said: str) -> bool:
    return _CONCLUDES.match(sentence) is not None and _adds(sentence, said) >= _FEW_NEW


def _is_reply(sentence: str, said: str) -> bool:
    return _ANSWERS.match(sentence) is not None and _adds(sentence, said) >= _FEW_NEW


def _is_claim(sentence: str, said: str) -> bool:
    is_about_it = not set(terms(sentence)).isdisjoint(terms(said))
    is_advice = re.match(r"(?i)\W*(?:you|we|it|your)\b", sentence)
    demands = _DEMANDS.search(sentence) is not None and not is_advice
    return demands and is_about_it and _adds(sentence, said) >= _FEW_NEW


def _adds(sentence: str, said: str) -> int:
    return len(set(terms(sentence)) - set(terms(said)))


_LACKS: dict[str, tuple[Callable[[str, str], bool], str]] = {
    "undefined term": (_is_definition, "It defines the term that the person was to define."),
    "no refutation": (_is_objection, "It names an objection that the person was to think of."),
    "straw man": (_is_objection, "It names an objection that the person was to think of."),
    "no evidence": (_is_evidence, "It brings evidence that the person was to look for."),
    "no clause": (_is_reason, "It gives a reason that the person was to give."),
    "no thesis": (_is_claim, "It makes the claim that the person was to make."),
    "vague thesis": (_is_claim, "It makes the claim that the person was to make."),
    "no reply": (_is_reply, "It answers the objection that the person was to answer."),
    "no conclusion": (_is_conclusion, "It draws the conclusion that the person was to draw."),
}
