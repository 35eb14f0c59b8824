"""What a person says beside their argument: of themselves, of their work, of the tutor.

A sentence is about these if it begins with them and gives a verdict on them: "I am not clever
enough", "My essay is a mess", "You are no help". It is no part of an argument. Neither is a
question that comes behind an answer. English only: in other languages all is taken for the
argument.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from deepnb.sentences import sentences
from deepnb.tutoring.intent import asks_for_help

Whom = Literal["self", "work", "tutor", "nobody"]

_FIRST = (
    r"\W*(?:(?:sorry|well|honestly|but|and|so|maybe|perhaps|actually|frankly|oh|ugh|hm+|ok|okay|no|"
    r"i\s(?:just\s)?(?:think|guess|fear|believe|feel)(?:\slike|\sthat)?)\b[\s,]*)*"
)
_VERY = (
    r"(?:(?:just|really|simply|so|too|far|way|very|quite|totally|all|always|such|still|even|complete|total|an?)"
    r"\s)*"
)
_WORK = (
    r"(?:argument|essay|thesis|draft|text|paper|homework|assignment|seminar|document|writing|work|"
    r"answers?|claims?|reasons?|clauses?|definitions?|ideas?)"
)
_THIS = rf"(?:it|this|that|any\w*|(?:an?|one|the|my)\s(?:\w+\s)?(?:{_WORK}|question|word|thing))\b"
_IS = r"\s?(?:is|are|was|am|seems?|sounds?|looks?|feels?|['\u2019](?:s|m|re))"
_NOT = r"(?:\snot|n['\u2019]?t)"
_CANNOT = (
    rf"(?:can\s?not|can['\u2019]?t|could{_NOT}|(?:['\u2019]ll\s)?never|won['\u2019]?t|do{_NOT})"
)
# Nothing more is said, or it is said in a clause of its own.
_STOPS = (
    r"(?:\s(?:for\sme|here|now|already|today|right\snow|anymore))*"
    r"(?=\W*\Z|\s*,|\s(?:and|because)\b)"
)
_VERDICT = rf"""(?:
    {_IS}\s{_VERY}(?:bad|weak|poor|wrong|stupid|dumb|silly|useless|worthless|hopeless|pointless|
      terrible|awful|horrible|nonsense|rubbish|garbage|trash|crap|mess|joke|waste|boring|unclear|
      confusing|annoying|broken|going\snowhere|no\s(?:good|help|use))
  | {_IS}{_NOT}?\s{_VERY}(?:good|great|strong|clear|convincing|smart|clever|help(?:ful|ing)|useful)
  | \s(?:makes?\sno\ssense|leads?\snowhere|sucks?|do(?:es)?{_NOT}\s(?:work|make\s(?:any\s)?sense))
  )(?:\senough|\sat\sall|\sanyway|\sof\stime|\s(?:for|to)?\s?(?:me|this|it|that))*
  (?:\W*\Z|\s*,\s*(?:i|is|isn|are|aren)\b.*)"""
_OF: dict[Whom, re.Pattern[str]] = {
    "self": re.compile(
        rf"""(?isx) {_FIRST}(?:
        i(?:\s\w+)?\s?{_CANNOT}\s(?:even\s|ever\s)?(?:
          (?:do|manage|finish|write|answer|handle|solve|understand|get|find|think\sof|take|make|
            come\sup\swith|figure\sout|be\sable\sto\s\w+)\s{_THIS}
          | (?:go\son|continue|keep\sup|cope|think|manage|understand|succeed)(?:\sany\w*)?{_STOPS})
      | i{_IS}\s{_VERY}(?:dumb|stupid|idiot|fool|failure|loser|hopeless|useless|worthless)\b
      | i{_IS}\s{_VERY}(?:overwhelmed|stuck|lost|discouraged|frustrated|desperate|exhausted|confused
          |(?:tired|sick)(?:\sof\s(?:it|this|that|all|trying))?){_STOPS}
      | i{_IS}\s{_VERY}(?:bad|terrible|awful|no\sgood)\sat\b
      | i{_IS}\snot\s{_VERY}(?:good\sat|made\sfor|cut\sout|up\sto)\b
      | i{_IS}\snot\s(?:\w+\s)?\w+\senough\b
      | (?:i\s[^.,]{{1,30}}\s(?:give|giving)|giving)\sup
          (?:\s(?:on\s)?(?:it|this|everything|my\s{_WORK}))?{_STOPS}
      | (?:it|this|that|all\sthis|everything){_IS}\s{_VERY}(?:(?<=too\s)(?:hard|difficult|much)
          |(?:hard|difficult|complicated|impossible)(?=\sfor\sme)|over\smy\shead|beyond\sme){_STOPS}
      | i\s(?:hate|loathe)\s(?:it|this|that|myself|my\s{_WORK}){_STOPS}
      | i\s(?:\w+\s)?(?:have|see)\sno\s(?:talent|chance|hope|strength|energy|confidence)\b
      | i\s(?:\w+\s)?(?:fail|suck)(?:\sat\s\w+)?{_STOPS}
        )"""
    ),
    "work": re.compile(
        rf"""(?isx) {_FIRST}(?:(?:my|our)\s(?:\w+\s)?{_WORK}|all\s(?:of\s)?this
          |(?:this|the)\swhole\s(?:thing|{_WORK})){_VERDICT}"""
    ),
    "tutor": re.compile(
        rf"""(?isx) {_FIRST}(?:
        (?:you|your\s(?:\w+\s)?(?:questions?|hints?|rules?|help|answers?)
          |this\s(?:tutor|bot|machine|program|tool|dialogue|chat)){_VERDICT}
      | (?:you|this\s(?:tutor|bot|machine|program|tool))\s(?:do(?:es)?{_NOT}|{_CANNOT})\s
          (?:even\s|really\s)?(?:understand|listen|help|get)(?:\s(?:to|me|it|this|anything|at|all))*
          \W*\Z
        )"""
    ),
}
# It takes up the answer before it by a pronoun, or only asks for a yes.
_OF_THE_ANSWER = r"""(?:
    (?:is|are|was|does|do|did|will|would|can|could|should|has|have|am|may)(?:n['\u2019]?t|\snot)?\s
      (?:that|this|it|i|you|they|these|we)\b[^?]*
  | (?:right|ok|okay|yes|no|correct|enough|good|true|agreed|better)(?:\s(?:so|now|enough))?\s*
  | (?:what|how)\s(?:do\syou\sthink|(?:is|about|was)\s(?:that|this|it)|now)\b[^?]*
  )\?+\W*\Z"""
_ASKS_OF_THE_ANSWER = re.compile(
    rf"(?isx) \W*(?:(?:so|and|but|or|ok|well)\b[\s,]*)*{_OF_THE_ANSWER}"
)
_ANSWER_AND_TAG = re.compile(
    rf"""(?isx) (?P<answer>(?!\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|
      does|did|can|could|should|would|will|has|have|am|may|must)\b).+?)\s*[,;\u2013\u2014]\s*
    (?P<tag>{_OF_THE_ANSWER})"""
)
_BUT = re.compile(r"\s*[,;]\s*but\s+")
_LONGEST = 2_000


class Heard(NamedTuple):
    """What was said, in its parts.

    Attributes:
        matter: What may belong to the argument.
        question: What is asked behind it.
        beside: Whom else it speaks of; "nobody" where it only calls for help.
    """

    matter: str
    question: str = ""
    beside: Whom | None = None


def hear(said: str) -> Heard:
    """Tell what a person says to the matter from what they say beside it."""
    if len(said) > _LONGEST:
        return Heard(said)
    pieces = [piece for sentence in sentences(said) for piece in _pieces(sentence)]
    whom = [_whom(piece) for piece in pieces]
    beside = next((one for one in (*_OF, "nobody") if one in whom), None)
    left = [piece for piece, about in zip(pieces, whom, strict=True) if about is None]
    asked: list[str] = []
    while left and left[-1].endswith("?"):
        asked.insert(0, left.pop())
    if not asked and beside is None:
        return Heard(said)
    matter = " ".join(left)
    return Heard(matter[:1].upper() + matter[1:], " ".join(asked), beside)


def asks_of_the_answer(question: str) -> bool:
    """Whether a question is about the answer before it, and names nothing of its own."""
    return _ASKS_OF_THE_ANSWER.match(question) is not None


def _pieces(sentence: str) -> list[str]:
    """A sentence, cut where it turns: "…, but …", "…, is that enough?"."""
    if tagged := _ANSWER_AND_TAG.fullmatch(sentence):
        return [tagged["answer"], tagged["tag"]]
    turned = _BUT.split(sentence)
    return turned if any(map(_whom, turned)) else [sentence]


def _whom(piece: str) -> Whom | None:
    if asks_for_help(piece):
        return "nobody"
    return next((whom for whom, form in _OF.items() if form.match(piece)), None)
