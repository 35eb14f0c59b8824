"""Words that mean nearly the same, and words that only ask.

Keywords miss what a question says in other words than the document: *fall* and *fell*, *cost* and
*price*, *July* and *07*. A small table of everyday words takes care of the most common cases; it
holds nothing about any subject.
"""

from __future__ import annotations

import re

from deepnb.keywords import stem, terms, words

_FAMILIES = """
    fall falls fell fallen decrease decline drop reduce reduction lower shrink shrank
    rise risen increase grow grew grown growth raise
    cost price pay paid payment expensive expense fee spend spent bill eur euro usd dollar gbp pound
    begin began begun start install installation launch
    end finish complete completion
    fail failure break broke broken outage
    kill die died dying dead death
    survive survival survivor
    steal stole stolen theft
    decide decision
    allow permit permission forbid forbade forbidden prohibit ban
    big large size area cover hectare
    deep depth
    long length
    wide width
    high height
    swim swam bathe bathing
    buy bought purchase
    sell sold
    hire rent
    build built
    make made
    take took taken
    find found
    choose chose chosen
    write wrote written
    keep kept
    hold held
    lead led
    lose lost loss
    run ran
    come came
    become became
    catch caught
    see saw seen
    send sent
    stand stood
    think thought
    child children
    healthy health healthier
    foot feet
    january 01
    february 02
    march 03
    april 04
    june 06
    july 07
    august 08
    september 09
    october 10
    november 11
    december 12
"""
_CONCEPT = {
    stem(word): stem(family.split()[0])
    for family in _FAMILIES.strip().splitlines()
    for word in family.split()
}

_RELATIVES = {stem(family.split()[0]): family.split() for family in _FAMILIES.strip().splitlines()}

MONEY = _CONCEPT["cost"]
"""Who asks for this asks for a sum: a passage without one is no answer."""

NEGATIONS = frozenset({"not", "never", "cannot", "nobody", "nothing"})

# Words of asking: they say what to do, not what to look for.
_ASKING = frozenset(
    terms(
        """
        according achieve alternative amount answer argue argument aspect assistant better calculate
        chapter check compare comparison compute describe detail develop discuss document done draft
        effect essay exactly example explain factor file folder go greetings happen hello help hey
        hi idea impact improve influence information introduction issue kind know like list look
        main many matter mention need new note often ok okay option outline overview paper paragraph
        paraphrase passage piece point possible problem project proofread quote read really reason
        remain rephrase rewrite said say saying says search section show situation something sort
        status stuff summarise summarize summary talk task tell test text thank thing topic
        translate try type want way whole word work workspace writing yes
        """
    )
) | {_CONCEPT[stem(word)] for word in ("find", "make", "think", "write")}

# Words of a long task that say how to go about it.
_TASK = frozenset(
    terms(
        """
        analyse analysis analyze careful citation concise evaluate evidence exact finding include
        including investigate provide reference relevant report research return source thorough
        together
        """
    )
)
LONG_TASK = 6
_MOST_TERMS = 10
_FEW = 4

# What these ask for is a number or a name, which is rarely told in the same words.
_MEASURE = re.compile(r"\bhow (?:long|often|old|soon|far|fast)\b", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:what|which) (?:share|percentage|proportion|fraction|part) of\b|\bnumber of\b",
    re.IGNORECASE,
)
_LASTING = frozenset(_CONCEPT.get(stem(w), stem(w)) for w in ("keep", "last", "hold", "take"))

_SIGNS = str.maketrans({"€": " eur ", "$": " usd ", "£": " gbp "})


def concepts(text: str) -> list[str]:
    """The terms of a text, with words of one family made one."""
    return [_CONCEPT.get(term, term) for term in terms(text.translate(_SIGNS))]


def key_terms(text: str) -> list[str]:
    """What to look for: the concepts of a text without words of asking, each once, in order.

    A long task is cut to its first terms: what it is about comes before how to do it.
    """
    plain, measured = _MEASURE.subn(" ", _SHARE.sub(" ", text))
    unasked = _ASKING | _LASTING if measured else _ASKING
    found = [term for term in dict.fromkeys(concepts(plain)) if term not in unasked]
    if len(found) > LONG_TASK:
        found = [term for term in found if term not in _TASK][:_MOST_TERMS]
    return found


def subjects(text: str) -> list[str]:
    """The words of a text that say what it is about, without everyday verbs and measures."""
    named = set(key_terms(text)).difference(_CONCEPT.values())
    return [word for word in words(text) if named.intersection(concepts(word))]


def key_words(text: str) -> list[str]:
    """The words of a text that `key_terms` are the terms of, as written, each once."""
    wanted = set(key_terms(text))
    return [word for word in dict.fromkeys(words(text)) if wanted.intersection(concepts(word))]


def relatives(text: str) -> list[str]:
    """Other words for what is looked for, a few for each term: for *deep*, *depth*."""
    present = set(terms(text))
    found: list[str] = []
    for term in key_terms(text):
        others = {stem(word): word for word in reversed(_RELATIVES.get(term, ()))}
        found += [word for form, word in reversed(others.items()) if form not in present][:_FEW]
    return found
