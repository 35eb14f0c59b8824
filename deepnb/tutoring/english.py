"""Whether a text is in another language: the rules are for English, and silent about the rest."""

from __future__ import annotations

from deepnb.keywords import unspaced, words

_ENGLISH = frozenset(
    """
    a about and are but by cannot could for from has have how i is it its may must my not of should
    than that the their these they this to what when which who why with would you your
    """.split()  # noqa: SIM905  # a line of words is easier to read
)
# German, French, Spanish, Italian, Portuguese, Dutch: the commonest words that are not English.
_OTHERS = frozenset(
    """
    aber auch auf che con dans das dei dem den denn der des di du ein eine einen el en es est et
    foi für het il ist je la las le les lo los mais mein meine mir mit não nicht niet o os para pas
    per pero por pour que qui se sich si sind son su sur um uma un una und une van von wird y zu é
    """.split()  # noqa: SIM905  # the same
)
_ENOUGH = 20  # words: an English text of so many has one of those above


def is_foreign(text: str) -> bool:
    """Whether a text seems to be in another language than English."""
    said = words(text)
    english, others = (sum(word in known for word in said) for known in (_ENGLISH, _OTHERS))
    in_other_letters = sum(not word.isascii() for word in said) > len(said) / 2
    is_long = len(said) >= _ENOUGH
    return unspaced(text) or in_other_letters or others > english or (is_long and not english)
