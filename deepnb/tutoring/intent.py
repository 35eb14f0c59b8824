"""What to do about a request: ask back, do it, or answer plainly.

    clarify   something is missing that changes what would be done: ask, with choices
    clear     do it; a claim counts as clear, since it is what a seminar begins with
    factual   it has an answer that is not the person's to find: answer plainly

English only. What is in another language counts as clear: there is nothing to ask about it that
would not be a guess.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.keywords import terms
from deepnb.tutoring.choices import BETTER, ask_about, ask_back
from deepnb.tutoring.citing import cited
from deepnb.tutoring.claims import subject, why_vague
from deepnb.tutoring.english import is_foreign
from deepnb.tutoring.own_words import quotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.interrupts import Option

_LONGEST = 4_000
_ENOUGH_OF_A_TOPIC = 3  # terms: with more of them, it is clear enough what about it

_POLITE = re.compile(
    r"(?i)^\W*(?:(?:please|hi|hello|hey|ok|okay|so|now|then|just)\b[\s,]*"
    r"|(?:can|could|would|will) you (?:please )?(?=\w)|(?:can|could|shall|should) we (?=\w)"
    r"|i(?: would|['\u2019]d) like you to )+"
)
_TELL = re.compile(
    r"(?i)^\W*(?:(?:can|could) you |please )*(?:tell me|do you know|say)\s+(?=(?:wh|how|if)\w*)"
)
_ORDER = re.compile(
    r"(?is)^\W*(?P<verb>add|ask|challenge|check|collect|compare|complete|continue|convert|copy|"
    r"count|create|cut|delete|do|draft|edit|expand|extract|find|finish|fix|give|help|highlight|"
    r"improve|insert|list|look|make|merge|move|open|outline|play|proofread|pull|put|quiz|quote|"
    r"read|remove|rename|replace|"
    r"rephrase|revise|rewrite|save|search|shorten|show|start|strengthen|suggest|summari[sz]e|test|"
    r"swap|tidy|translate|turn|undo|work|write)\b(?! you\b)(?P<what>.*)"
)
_WISH = re.compile(
    r"(?is)^\W*(?:i|we)\b[^.?!]{0,40}?\b(?:want|need|have|like|love|going|trying|interested|plan)\b"
    r"(?P<what>.*)|^\W*let['\u2019]?s? (?:us )?(?:talk|write|work|think|speak)\b(?P<topic>.*)"
    r"|^\W*something (?:about|on)\b(?P<thing>.*)"
)
_CLAIMS = re.compile(
    r"(?i)^\W*(?:i|we) (?:\w+ ){0,3}?(?:argue|think|believe|claim|hold|say|show|defend)(?: that)?\b"
    r"|^\W*my (?:thesis|claim|position|view|argument) is that\b|^\W*my thesis is\b"
)
_HOLDS = re.compile(
    r"(?i)^\W*(?:i|we)(?:['\u2019](?:d|ll))? (?:\w+ ){0,3}?(?:argue|think|believe|claim|hold|"
    r"say|show|defend|prove|(?:convince|persuade)(?: \w+){1,3}?(?= that\b))(?: that)?\b"
    r"|^\W*my (?:thesis|claim|position|view|argument) is(?: that)?\b"
)
_QUESTION = re.compile(
    r"(?i)^\W*(?:who|what|when|where|which|whose|why|how|in (?:which|what)|define|explain|name|"
    r"(?:meaning|definition|author|date|capital|plural|synonym) of)\b"
)
_YES_OR_NO = re.compile(r"(?i)^\W*(?:is|are|was|were|did|does|do|has|have|can)\b.*\?\W*\Z")
_TO_JUDGE = re.compile(
    r"(?i)\b(?:should|ought|agree|opinion|better|best|fair|unfair|just|unjust|moral|wrong|good|"
    r"bad|worth)\b"
)
_MINE = re.compile(r"(?i)\b(?:i|my|we|our)\b")
_OF_THE_TEXT = re.compile(
    r"(?i)\b(?:my|the|this|our) (?:\w+ )?(?:thesis|clause|reply|conclusion|refutation|objection|"
    r"definition|introduction)\b|\bclause \d"
)
_IN_FILES = re.compile(r"(?i)\bmy (?:files?|sources|documents|notes)\b|^\W*which files?\b")
_POINTS = re.compile(r"(?i)\s*(?:it|this|that|these|them)\b(?:\W+\w+){0,4}\W*\Z")
_UNSAID = re.compile(
    r"(?i)\W*(?:my|the|this) (?:\w+ )?(?:essay|paper|draft|text|homework|assignment|argument|it)\b"
)
_FILES = re.compile(r"(?i)\b(?:files?|documents?|sources|titles)\b")
_TALK = re.compile(
    r"(?i)\W*(?:yes|no|yeah|nope|ok|okay|thanks|thank you|thx|sure|right|exactly|perhaps|maybe|"
    r"great)"
    r"\b[^?]{0,20}\Z"
)
_VAGUE = frozenset(
    terms(
        """
        about argument article better check document draft edit essay feedback file good great help
        idea improve interest know learn like look need paper paragraph read something speak start
        strong stronger stuff talk text thing think thought topic trying want work write writing
        """
    )
)
_HELP = re.compile(
    r"""(?ix)
    \W*(?:(?:sorry|well|hm+|um+|ok|okay|no|please|but|i['\u2019]m\ afraid)\b[\s,.]*)*
    (?:i\ (?:really\ |still\ |just\ )?(?:do\ not|don['\u2019]?t)\ (?:really\ )?know
        (?:\ (?:yet|that|it|either)|\ (?:how|what|where|which|why|if|whether)\b[^.!]{0,40})?
      | (?:i\ have\ )?no\ (?:idea|clue)
      | (?:i(?:\ am|['\u2019]m)\ )?not\ (?:so\ |really\ |quite\ )?sure
      | i(?:\ am|['\u2019]m)\ (?:stuck|lost) | dunno | idk | skip(?:\ (?:it|this|that))? | pass
      | (?:i\ have\ )?(?:none|nothing|no\ (?:files?|evidence|sources?|reasons?|answer))
        (?:\ (?:yet|of\ (?:them|these|my\ files)|for\ (?:it|this|that)))*
      | (?:(?:can|could|may)\ i\ have\ |i\ (?:need|want)\ |give\ me\ )?
        (?:(?:an?|another|one\ more|the\ next|some|more)\ )?(?:hint|help|clue|tip)s?
      | (?:(?:can|could)\ you\ )?help(?:\ me)?)
    (?:[\s,]+please)?\W*\Z
    """
)
_TOLD = re.compile(
    r"(?i)\bjust (?:tell|give|say|write)\b|\bgive up\b|\bthe answer\b|\bi(?: am|"
    r"['\u2019]m) stuck\b|\bgive me\b"
    r"|\bshow me\b|\b(?:an|for) example\b|\btell me (?:what|the|how|why)\b|\bwhat would you\b"
)


class Intent(NamedTuple):
    """What to do about a request; a question and choices are there only to clarify."""

    kind: Literal["clarify", "clear", "factual"]
    question: str = ""
    options: tuple[Option, ...] = ()


_CLEAR, _FACTUAL = Intent("clear"), Intent("factual")


def intent(request: str, titles: Sequence[str] = ()) -> Intent:
    """Tell what to do about a request.

    Args:
        request: What the person has written.
        titles: Of the files there are: they are choices where an order names no text.
    """
    text = " ".join(request[:_LONGEST].split())
    if _TALK.fullmatch(text) or (is_foreign(text) and not _is_request(text)):
        return _CLEAR
    body = _POLITE.sub("", _TELL.sub("", text))
    if _CLAIMS.match(body) and len(_about(body)) > 1:
        return _CLEAR
    if order := _ORDER.match(body):
        verb = order["verb"].lower()
        is_clear = _names_something(verb, order["what"])
        return _CLEAR if is_clear else Intent("clarify", *ask_back(verb, titles))
    if wish := _WISH.match(body):
        return _wished(next(filter(None, wish.groups()), ""))
    if _QUESTION.match(body) or _YES_OR_NO.match(body):
        return _asked(body)
    return _stated(body)


def order(said: str) -> str:
    """The verb of a request to do something; empty if it is none."""
    text = " ".join(said[:_LONGEST].split())
    found = _ORDER.match(_POLITE.sub("", _TELL.sub("", text)))
    return found["verb"].lower() if found else ""


def claim(said: str) -> str:
    """What a person holds, without the words by which they say that they hold it."""
    text = " ".join(said.split())
    held = _HOLDS.sub("", text).lstrip(" ,:")
    return text if why_vague(held) else held[:1].upper() + held[1:]


def asks_for_help(said: str) -> bool:
    """Whether a person says that they cannot go on by themselves, and nothing else."""
    return _HELP.match(" ".join(said[:_LONGEST].split())) is not None


def asks_to_be_told(said: str) -> bool:
    """Whether a person asks for the answer itself, or for something that is not theirs to find."""
    text = " ".join(said[:_LONGEST].split())
    if _TOLD.search(text) or intent(text).kind == "factual":
        return True
    order = _ORDER.match(_POLITE.sub("", text))
    return order is not None and order["verb"].lower() not in ("help", "ask", "check")


def _is_request(text: str) -> bool:
    """Whether it begins as English requests do, which may be too short to tell the language by."""
    return any(form.match(text) for form in (_ORDER, _QUESTION, _YES_OR_NO))


def _about(text: str) -> set[str]:
    """The terms of a text that say what it is about."""
    return set(terms(text)) - _VAGUE


def _names_something(verb: str, what: str) -> bool:
    """Whether an order says what it is about: a file, quoted words, or enough of a topic."""
    if cited(what) or quotations(what) or _OF_THE_TEXT.search(what):
        return True
    if verb in BETTER and _POINTS.match(what):  # nobody knows at what
        return False
    if verb in ("list", "show", "count") and _FILES.search(what):
        return True
    wanted = re.search(r"(?i)\b(?:for|of)\s(.+)", what)
    if wanted and verb in ("search", "find", "look"):
        return bool(_about(wanted[1]))
    return len(_about(what)) > 1


def _wished(what: str) -> Intent:
    """Tell a wish that has a claim or much of a topic from "I want to write about economics"."""
    found = re.search(r"(?i)\b(?:about|on|in|with|of)\s+(.+)", what)
    topic = found[1].strip(" .!?") if found else ""
    claims = re.search(r"(?i)\b(?:should|must|is|are|can|cannot|needs?|ought)\b", topic)
    says = re.search(r"(?i)\bthat\b", what)
    if (claims and len(_about(topic)) > 1) or (says and len(_about(what)) > 1):
        return _CLEAR
    if len(_about(topic)) > _ENOUGH_OF_A_TOPIC:
        return _CLEAR
    return Intent("clarify", *(ask_about(topic) if _about(topic) else ask_back("help", ())))


def _asked(body: str) -> Intent:
    if _OF_THE_TEXT.search(body) or _IN_FILES.search(body):
        return _CLEAR
    if not _about(body) or (_MINE.search(body) and len(_about(body)) == 1):
        return Intent("clarify", *ask_back("help", ()))
    return _CLEAR if _MINE.search(body) or _TO_JUDGE.search(body) else _FACTUAL


def _stated(body: str) -> Intent:
    about = _about(body)
    if not about:
        return Intent("clarify", *ask_back("help", ()))
    if cited(body) or quotations(body) or _OF_THE_TEXT.search(body):
        return _CLEAR
    if _UNSAID.match(body):
        return Intent("clarify", *ask_back("help", ()))
    if _about(subject(body)):  # a claim, though it may be a vague one
        return _CLEAR
    is_question = body.endswith("?")
    if len(about) > 1 and (is_question or not why_vague(body)):
        return _CLEAR
    return Intent("clarify", *ask_about(body.strip(" .!?")))
