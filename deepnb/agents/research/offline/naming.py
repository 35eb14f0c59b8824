"""Which documents a text means: by path, by name, or in words, such as "the press release"."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

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


def named(text: str, documents: Sequence[Overview]) -> list[str]:
    """Where the documents are that a text names, if it names only a few."""
    files = [each.location for each in documents]
    by_name = [path for path in named_files(text, files)[0] if path in files]
    asked = set(concepts(text))
    called = [path for path in files if _called_so(path, asked)]
    meant = [path for match in _IN_WORDS.finditer(text) for path in _meant(match, documents)]
    return list(dict.fromkeys([*by_name, *called, *meant]))[:MOST_NAMED]


def unnamed(text: str, documents: Sequence[Overview]) -> str:
    """A text with no names of documents in it: what else does it say?"""
    for path in named_files(text, [each.location for each in documents])[0]:
        for name in (path, PurePosixPath(path).name):
            text = re.sub(re.escape(name), _DOCUMENT, text, flags=re.IGNORECASE)
    return _IN_WORDS.sub(lambda match: _DOCUMENT if _meant(match, documents) else match[0], text)


def spelled_out(text: str, documents: Sequence[Overview]) -> str:
    """A text that names documents by their paths where it does so in words."""
    return _IN_WORDS.sub(lambda match: " and ".join(_meant(match, documents)) or match[0], text)


def _called_so(path: str, asked: set[str]) -> bool:
    name = _words(PurePosixPath(path).stem)
    return len(name) > 1 and asked.issuperset(name)


def _meant(match: re.Match[str], documents: Sequence[Overview]) -> list[str]:
    """The documents with most of the words, and with the last one, which says what they are."""
    wanted = concepts(match["words"])
    scored: list[tuple[tuple[int, bool], str]] = []
    for each in documents:
        stem = _words(PurePosixPath(each.location).stem)
        about = stem | _words(each.title)
        if wanted and wanted[-1] in about:
            exact = wanted[-1] in stem and stem.issubset(wanted)
            scored.append(((len(about.intersection(wanted)), exact), each.location))
    best = max((score for score, _ in scored), default=None)
    paths = [path for score, path in scored if score == best]
    return paths if len(paths) <= MOST_NAMED else []


def _words(name: str) -> set[str]:
    return set(concepts(name.replace("-", " ").replace("_", " ")))
