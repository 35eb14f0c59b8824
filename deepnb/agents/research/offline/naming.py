"""Which documents a text means: by path, by name, or in words, such as "the press release"."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from deepnb.agents.research.offline.steps import not_so_called, safe
from deepnb.models.offline.request import named_files
from deepnb.models.offline.vocabulary import concepts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.knowledge import Overview

MOST_NAMED = 2
# What documents are. "The report" means one that is called so; "the trees" means trees.
_KINDS = (
    "agreement|analysis|announcement|article|assessment|audit|book|brief|brochure|contract|diary|"
    "e-?mail|essay|evaluation|flyer|guide|handbook|interview|journal|leaflet|lease|letter|log|"
    "manual|memo|memorandum|minutes|newsletter|notebook|notes|paper|presentation|proposal|protocol|"
    "questionnaire|readme|release|report|review|slides|spreadsheet|statement|study|survey|"
    "thesis|transcript"
)
_IN_WORDS = re.compile(
    rf"\b(?:the|this|that|our|my|your)\s+(?P<words>(?:[\w-]+\s+){{0,3}}?(?:{_KINDS})s?)\b",
    re.IGNORECASE,
)
_DOCUMENT = "the document"
_THE = r"(?:the|this|that|our|my|your)\s+"
_WORD = r"[\w'\u2019.-]*\w"
_CALLED = rf"(?:{_WORD}\s+){{0,4}}?{_WORD}"
_SIDE = rf"(?:{_THE}{_CALLED}|\S+\.\w+)"
# Where it is a document that is spoken of, any words can be what it is called.
_SPOKEN_OF = re.compile(
    r"\b(?:summari[sz]e|sum up|outline|(?:summary|overview|outline|gist|points|contents?) of)\s+"
    rf"(?P<whole>(?:{_THE})?{_CALLED})\W*$"
    rf"|\b(?:do|does|did)\s+(?P<says>(?:{_THE})?{_CALLED})\s+(?:say|tell|state|contain)\b"
    rf"|\baccording to\s+(?P<by>{_THE}{_CALLED})(?=\s*(?:[,.;:?!]|$))",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    rf"\b(?:compare|differences?\s+between)\s+(?P<one>{_SIDE})\s+"
    rf"(?:and|with|to|vs\.?|versus)\s+(?P<other>{_SIDE})\W*$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
# What ends so is as likely something else: Node.js, example.org.
_NO_DOCUMENT = (".js", ".ts", ".org", ".r")


class _Phrase(NamedTuple):
    """Words that may be for documents: where they stand, and the documents that are so called."""

    start: int
    end: int
    meant: list[str]


def named(text: str, documents: Sequence[Overview]) -> list[str]:
    """Where the documents are that a text names, if it names only a few."""
    files = [each.location for each in documents]
    by_name = [path for path in named_files(text, files)[0] if path in files]
    asked = set(concepts(text))
    called = [path for path in files if _called_so(path, asked)]
    meant = [path for phrase in _phrases(text, documents) for path in phrase.meant]
    return list(dict.fromkeys([*by_name, *called, *meant]))[:MOST_NAMED]


def missing(text: str, documents: Sequence[Overview]) -> list[str]:
    """The files that a text names and that are none of the documents."""
    files = [each.location for each in documents]
    names = {PurePosixPath(path).name.casefold() for path in files}
    found = named_files(_ADDRESS.sub(" ", text), files)[0]
    strange = [path for path in found if path not in files]
    return [
        path
        for path in strange
        if PurePosixPath(path).name.casefold() not in names
        and not path.lower().endswith(_NO_DOCUMENT)
    ][:MOST_NAMED]


def unresolved(text: str, documents: Sequence[Overview]) -> list[str]:
    """Say of what a text calls a document that none is called so, or that several are."""
    said: list[str] = []
    for each in _phrases(text, documents) if documents else ():
        name = text[each.start : each.end]
        if each.meant or missing(name, documents):
            continue
        if any(_words(name).intersection(_about(one)) for one in documents):
            said.append(f"It is not clear which document “{safe(name)}” is.")
        else:
            said.append(not_so_called(name))
    return list(dict.fromkeys(said))


def unnamed(text: str, documents: Sequence[Overview]) -> str:
    """A text with no names of documents in it: what else does it say?"""
    phrases = _phrases(text, documents)
    compared = _COMPARED.search(text) and any(each.meant for each in phrases)
    for each in reversed(phrases):
        if each.meant or compared:
            text = f"{text[: each.start]}{_DOCUMENT}{text[each.end :]}"
    files = [each.location for each in documents]
    for path in named_files(text, files)[0]:
        if path.lower().endswith(_NO_DOCUMENT) and path not in files:
            continue
        for name in (path, PurePosixPath(path).name):
            text = re.sub(re.escape(name), _DOCUMENT, text, flags=re.IGNORECASE)
    return text


def spelled_out(text: str, documents: Sequence[Overview]) -> str:
    """A text that names documents by their paths where it does so in words."""
    return _IN_WORDS.sub(lambda match: " and ".join(_kin(match, documents)) or match[0], text)


def _phrases(text: str, documents: Sequence[Overview]) -> list[_Phrase]:
    """What are words for documents, in order: some are so called, or it can be nothing else."""
    found: list[_Phrase] = []
    if match := _COMPARED.search(text):
        sides = [_Phrase(*match.span(side), _so_called(match[side], documents)) for side in (1, 2)]
        found += sides if any(side.meant for side in sides) else []
    spoken_of = [match.span(match.lastgroup or 0) for match in _SPOKEN_OF.finditer(text)]
    for first, last in [*spoken_of, *(match.span() for match in _IN_WORDS.finditer(text))]:
        name = text[first:last]
        apart = all(last <= each.start or each.end <= first for each in found)
        meant = _so_called(name, documents)
        if apart and (meant or ((first, last) in spoken_of and _IN_WORDS.fullmatch(name))):
            found.append(_Phrase(first, last, meant))
    return sorted(found)


def _so_called(name: str, documents: Sequence[Overview]) -> list[str]:
    """The documents with all words of a name in what their file is called, or in their title."""
    files = [each.location for each in documents]
    if by_name := [path for path in named_files(name, files)[0] if path in files]:
        return by_name
    if match := _IN_WORDS.fullmatch(name):
        return _kin(match, documents)
    wanted = _words(name)
    scored: list[tuple[tuple[int, bool], str]] = []
    for each in documents:
        stem = _words(PurePosixPath(each.location).stem)
        if wanted and wanted.issubset(_about(each)):
            exact = wanted == {word for word in stem if not word.isdigit()}
            scored.append(((len(stem & wanted), exact), each.location))
    return _best(scored)


def _called_so(path: str, asked: set[str]) -> bool:
    name = _words(PurePosixPath(path).stem)
    return len(name) > 1 and asked.issuperset(name)


def _kin(match: re.Match[str], documents: Sequence[Overview]) -> list[str]:
    """The documents with most of the words, and with the last one, which says what they are."""
    wanted = concepts(match["words"])
    scored: list[tuple[tuple[int, bool], str]] = []
    for each in documents:
        stem = _words(PurePosixPath(each.location).stem)
        about = _about(each)
        if wanted and wanted[-1] in about:
            exact = wanted[-1] in stem and stem.issubset(wanted)
            scored.append(((len(about.intersection(wanted)), exact), each.location))
    return _best(scored)


def _best(scored: Sequence[tuple[tuple[int, bool], str]]) -> list[str]:
    best = max((score for score, _ in scored), default=None)
    paths = [path for score, path in scored if score == best]
    return paths if len(paths) <= MOST_NAMED else []


def _about(document: Overview) -> set[str]:
    return _words(PurePosixPath(document.location).stem) | _words(document.title)


def _words(name: str) -> set[str]:
    return set(concepts(name.replace("-", " ").replace("_", " ")))
