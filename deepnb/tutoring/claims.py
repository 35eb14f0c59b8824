"""Whether a thesis claims something, and whether a refutation refutes: what a rule can say of it.

A rule sees how something is said. That a thesis is new, or an objection the strongest there is, it
cannot see: what passes here may still be weak.
"""

from __future__ import annotations

import re
from itertools import pairwise

from deepnb.citations.negation import NOT
from deepnb.keywords import STOP_WORDS, terms, words
from deepnb.tutoring.english import is_foreign

_TREATS = (
    r"(?:write|talk|speak|discuss|explore|look|examine|explain|consider|analy[sz]e|describe|"
    r"investigate|understand|study|compare|think|learn|read)\w*"
)
_ANNOUNCES = re.compile(
    rf"""(?ix)
    (?:in\ this\ \w+,?\ )?(?:i|we)\ (?:want|wish|need|plan|intend|hope|will|shall|would\ like|
      am\ going|are\ going)
      \ (?:to\ )?{_TREATS}\b
  | (?:this|the|my)\ (?:essay|paper|document|text|seminar|thesis)\ (?:will\ |
      is\ going\ to\ )?{_TREATS}\b
  | (?:this|the|my)\ (?:essay|paper|document|text|seminar)\ is\ about\b
  | (?:this|the|my)\ (?:thesis|aim|goal|purpose)\b[^.]{{0,60}}\bis\ to\ {_TREATS}\b
  | (?:my|the)\ (?:topic|subject|theme)\ is\b
  | (?:the\ following|these|the\ next)\ (?:pages|chapters|paragraphs|sections|lines)\b
  | i['\u2019]m\ going\ to\ {_TREATS}\b
  | my\ (?:thesis|essay|paper|text|document|seminar)\ (?:is\ about|on)\b
  | to\ (?:show|explain|find\ out|see)\ (?:how|why|what|whether)\b
  | let\ (?:us|me)\ {_TREATS}\b
  | to\ {_TREATS}\b(?!.*\bis\b)
    """
)
_TAKES_NO_SIDE = re.compile(
    r"""(?ix)
    \b(?:many|various|several|different)\ (?:different\ )?(?:opinions|views|sides|ways|aspects|
      perspectives)\b
  | \badvantages\ and\ disadvantages\b | \bpros\ and\ cons\b | \bboth\ good\ and\ bad\b
  | \bgood\ (?:or|and)\ bad\b | \bit\ (?:all\ )?depends\b | \bhard\ to\ say\b
  | \bevery(?:body|one)\ has\ (?:their|his|her|an?)\b
  | \bboth\ sides\b.*\b(?:have|are|make)\b.*\b(?:points?|arguments?|right|reasons)\b
  | \bis\ an?\ (?:open\ )?question\ (?:that|which|of)\b | \ba\ lot\ (?:to\ be\ said|to\ say)\b
  | \b(?:people|experts|scholars|opinions)\ (?:disagree|differ|are\ divided)\b(?!.*\b(?:because|
      since|for|as)\b)
  | \bwe\ live\ in\ an?\ (?:\w+\ )?(?:society|world|time|age)\b
  | \bsome\ (?:people\ )?(?:think|say|believe)\b.*\b(?:some|others)\b
  | \b(?:is|are|remains?)\ an?\ (?:very\ )?(?:important|interesting|complex|controversial|
      difficult|hot|broad)
      \ (?:topic|subject|issue|question|matter|theme|problem)\b
    """
)
_SAYS_NOTHING = re.compile(
    r"(?i)\b(?:is|are)\s+(?:very |so |really |quite )?"
    r"(?:important|interesting|complex|complicated|controversial|changing|good|bad|relevant)\W*\Z"
    r"|\b(?:is|are) (?:an? )?(?:big |important |integral )?parts? of (?:our |human |"
    r"modern )?(?:life|lives|society|the world)\W*\Z"
    r"|\bplays? an? (?:big|important|major|key) (?:role|part)\b[^.]{0,30}\W*\Z"
    r"|\b(?:has|have) changed (?:the world|everything|our lives|society)\W*\Z"
)
_CONCEDES = re.compile(r"(?i)\W*(?:although|though|while|whereas|even if|despite)\b")
_SEES_A_TOPIC = re.compile(r"(?i)\W*(?:how|why|what|where|when)\b")
_SUBTITLE = re.compile(
    r"(?i)[:\u2013\u2014]\s*(?:an?|the|some)\s(?:\w+\s)?(?:history|overview|study|introduction|"
    r"survey|analysis|"
    r"review|comparison|defen[cs]e|thoughts|notes)\b"
)
_VERB = re.compile(
    rf"(?i)\b(?:am|is|are|was|were|be|has|have|had|do|does|did|can|could|must|should|will|would|"
    rf"may|"
    rf"might|shall|ought|need|{NOT})\b"
)
_NO_VERB_BEHIND = frozenset(
    """
    a about against an and as at between by for from in its modern my of on or our the their to
    with without
    """.split()  # noqa: SIM905  # a line of words is easier to read
)
_FEWEST_WORDS, _FEW_WORDS_OF_A_TOPIC = 3, 12

_DISPARAGES = re.compile(
    r"(?i)\b(?:fools?|idiots?|idiotic|stupid\w*|ignorant|ignorance|greedy|lazy|evil|hysteri\w+|"
    r"racists?|"
    r"nonsense|ridiculous|silly|naive|blinded|lobby\w*|haters?|dreamers?|complain\w*|afraid of|"
    r"brainwashed|liars?|hates?|crazy|loot|"
    r"no (?:good |real )?arguments?|no ?(?:body|one) (?:serious|sane|reasonable))\b"
)
_ONLY_SAYS_NO = frozenset(
    terms(
        """
        against agree always argue argument believe claim course critic deny disagree doubt fact
        false hold incorrect mistaken object objection opinion opponent opposite other otherwise
        people person point say simply someone statement talk thesis think true truth view way
        worth wrong
        """
    )
)
_FEWEST_TERMS, _SHORT_TERMS, _ENOUGH_TERMS = 4, 10, 15
_FEW_NEW = 2
_LEAST_SHARE = 0.25  # of what the thesis and its clauses have


def why_vague(thesis: str) -> str:
    """Say why a thesis is no claim that could be denied; empty if no rule sees why."""
    text = " ".join(thesis.split()).strip("*_ ")
    if not terms(text):
        return "It says nothing yet."
    reasons = {
        "It is a question, and a thesis answers one.": text.endswith(("?", "\uff1f")),
        "It says what the text will be about, and not what it claims.": _ANNOUNCES.match(text),
        "It takes no side that somebody could be against.": _takes_no_side(text),
        "Nearly everybody could agree to it, for it is not said in what way.": _SAYS_NOTHING.search(
            text
        ),
        "It names a topic, and says nothing about it.": _is_topic(text),
    }
    return next((why for why, is_so in reasons.items() if is_so), "")


def subject(text: str) -> str:
    """What a text says something of, however little: "money", if it is "Money is bad".

    Empty if it asks, announces, or only names a topic.
    """
    verb = _VERB.search(text)
    if verb is None or not words(text[verb.end() :]) or text.endswith(("?", "\uff1f")):
        return ""
    return "" if _ANNOUNCES.match(text) or _is_topic(text) else text[: verb.start()].strip()


def _takes_no_side(text: str) -> bool:
    return not _CONCEDES.match(text) and _TAKES_NO_SIDE.search(text) is not None


def _is_topic(text: str) -> bool:
    said = words(text)
    if is_foreign(text):
        return False
    if len(said) < _FEWEST_WORDS:
        return not _VERB.search(text) and not text.endswith((".", "!"))
    if text.endswith((".", "!")) or len(said) > _FEW_WORDS_OF_A_TOPIC:
        return False
    if _SEES_A_TOPIC.match(text) or _SUBTITLE.search(text):
        return True
    is_english = not STOP_WORDS.isdisjoint(said)
    return is_english and not _VERB.search(text) and not _may_have_a_verb(said)


def _may_have_a_verb(said: list[str]) -> bool:
    """Whether a word ends as verbs do where a verb may stand: "tourism kills towns"."""
    return any(
        (word.endswith("s") and not word.endswith("ss")) and before not in _NO_VERB_BEHIND
        for before, word in pairwise(said)
    )


def why_straw_man(side: str, refutation: str) -> str:
    """Say why a refutation is easier to meet than a real one; empty if no rule sees why.

    Args:
        side: The thesis and its clauses.
        refutation: What is said against them.
    """
    said, other = set(terms(refutation)), set(terms(side))
    if not words(refutation) or is_foreign(refutation):
        return ""
    new = said - other - _ONLY_SAYS_NO
    if len(new) <= 1 or (len(new) <= _FEW_NEW and len(said & other) >= len(said) / 2):
        return "It says that the thesis is wrong, and gives no reason."
    if len(said) <= _SHORT_TERMS and _DISPARAGES.search(refutation):
        return "It speaks of those who hold it, and not of what they would say."
    if len(said) < _FEWEST_TERMS or len(said) < min(_ENOUGH_TERMS, _LEAST_SHARE * len(other)):
        return "It is far shorter than what it is against."
    return ""
