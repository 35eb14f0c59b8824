"""What kind of request it is, as far as that can be told from its words.

Patterns for English. What matches none of them is a question, which is searched for; what leaves
nothing to search for is vague, and asked about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from deepnb.models.offline.results import BINARY
from deepnb.models.offline.vocabulary import LONG_TASK, key_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal[
    "question",
    "vague",
    "about",
    "files",
    "count",
    "show",
    "mentions",
    "outline",
    "save",
    "cannot",
    "thanks",
    "more",
]

MOST_QUESTIONS = 5
_LONGEST = 4_000

_TEXT = "md|txt|rst|csv|tsv|json|html?|ipynb|py|bib|tex|ya?ml|toml|log|org|R|js|ts"
_PATH = rf"[\w./~\-]*\w\.(?:{_TEXT}|{'|'.join(BINARY)})\b"
_FILE = re.compile(_PATH)
_SAVE = re.compile(
    r"(?:^\W*|(?<=[?!])\s+|[,;.]\s+|[,;]?\s*\b(?:and|then)\s+)"
    r"(?:please\s+)?(?:(?:can|could) you\s+)?"
    r"(?:write|save|store|put|export|note)\b(?P<what>[^?!\n]{0,200}?)"
    r"\s+(?:in|into|to|as)\s+(?:(?:a|the)\s+)?(?:file\s+)?(?:called\s+|named\s+)?"
    rf"[`'\"]?(?P<path>{_PATH}|[\w.~\-]*(?:/[\w.~\-]+)+)[`'\"]?",
    re.IGNORECASE,
)
_CREATE = re.compile(
    r"^\s*(?:please\s+)?(?:create|write|make|start)\s+(?:me\s+)?(?:an?\s+)?(?:new\s+)?"
    r"(?:document|file|note|page)\s+(?:titled|called|named)\s+[`'\"“]([^`'\"”]{1,80})[`'\"”]\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FILES = re.compile(
    r"\b(?:list|show|what|which)\b.{0,20}\b(?:files?|documents?|folders?|papers?)\b.{0,20}"
    r"(?:\bdo (?:i|you|we) have\b|\bare there\b|\bcan you (?:see|read|reach)\b)"
    r"|^\W*(?:please\s+)?(?:list|show)(?:\s+me)?(?:\s+(?:all|my|the|your|of))*"
    r"\s+(?:files|documents|folder)\W*$",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\bhow many\s+(?:(?:of|my|the|text)\s+)*(?:files|documents|papers)"
    r"(?:\s+(?:are there|do (?:i|you|we) have|(?:can|do) you (?:see|read|reach|search)))?\W*$",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|perfect|good|nice|many|cool)\W+)*"
    r"(?:thanks|thank you|thx|cheers|bye|goodbye)\b.{0,30}$",
    re.IGNORECASE,
)
_MORE = re.compile(r"^\W*(?:show\s+|tell\s+)?(?:me\s+)?(?:more|go on|continue)\W*$", re.IGNORECASE)
# Orders, told from nouns ("change in oxygen") by what they are about ("change the title").
_CANNOT = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you|now)\s+)*"
    r"(?:(delete|erase|rename|upload|download|translate)"
    r"|(remove|move|send|e-?mail|edit|change|append|insert|replace|run|execute|install)"
    r"(?=\s+(?:it|this|that|the|my|all|every|me|an?|them|\S+\.\w{1,5}|(?-i:[A-Z]\w+))\b))\b",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"^\W*(?:what(?:\s+is|['\u2019]s)|how much is|calculate|compute)?"
    r"[\d\s.,()]*\d\s*(?:[+*\u00d7÷^]|\s[-/]\s)[\d\s.,()+*/\u00d7÷^-]*\W*$",
    re.IGNORECASE,
)
_SHOW = re.compile(
    r"^\W*(?:please\s+)?(?:can you\s+)?(?:read|open|show|display|print|view|cat)\b", re.IGNORECASE
)
_MENTIONS = re.compile(
    r"\b(?:all\s+|every\s+)?(?:mentions?|occurrences?|instances?)\s+of\s+(.+)$"
    r"|\b(?:search|grep|look)\s+(?:in\s+|through\s+)?(?:(?:all|my|the|these)\s+)*"
    r"(?:files|documents|folder|workspace)\s+for\s+(.+)$"
    r"|\bwhere\s+(?:is|are|does|do)\s+(.+?)\s+(?:mentioned|occur|appear)s?\b",
    re.IGNORECASE | re.DOTALL,
)
_SHORT: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (_THANKS, "thanks"),
    (_MORE, "more"),
    (_COUNT, "count"),
    (_FILES, "files"),
)
_OUTLINE = re.compile(
    r"\b(?:summar(?:y|i[sz]e\w*)|overview|outline|tl;?dr|key points|gist|abstract of)\b",
    re.IGNORECASE,
)
# A verb only where it is an order: "draft a letter", not "the draft of the letter".
_NEEDS_A_MODEL = re.compile(
    r"(?:^\W*|[.!?]\s+|\b(?:please|you|and|then|to|me)\s+)"
    r"(summari[sz]e|translate|re-?write|rephrase|paraphrase|proof-?read|improve|calculate|compute|"
    r"plot|draft|brainstorm|(?:write|compose)\s+(?:me\s+)?(?:an?|the|my)\s+\w+)\b"
    r"|\b(what do you think|do you think|your opinion|should (?:i|we)|average of|sum of)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:want|like|need|going|have|help me|trying)\b.*?"
    r"\b(?:write|work|know more|learn|talk|think|essay|paper)\b.*?\b(?:about|on|with)\s+(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_PARTS = re.compile(r"(?<=\?)\s+|\n+|\s*;\s+(?=\w+.*\?)")
_LAST_QUESTION = re.compile(r"[^.!?\n]+\?")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")

_CHATTER = re.compile(
    r"^\W*(?:who|what) are you\b|^\W*what can you do\b"
    r"|^\W*are you (?:an? )?(?:ai|llm|model|bot|human)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Request:
    """A request, understood.

    Attributes:
        text: What was asked, without the wish to save the answer.
        kind: What to do about it.
        questions: What to look for.
        files: Paths of the files it names; a name that is no file within reach is left as it is.
        save_to: Where to save the answer.
        beyond: What it asks for that takes a language model.
    """

    text: str
    kind: Kind
    questions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    save_to: str = ""
    beyond: str = ""


def names_a_file(text: str) -> bool:
    """Whether a file seems to be named, so that it is worth looking which ones there are."""
    return re.search(r"\w\.\w{1,8}\b", _saving(text[:_LONGEST])[0]) is not None


def understand(text: str, known: Sequence[str] = ()) -> Request:
    """Tell what a request wants.

    Args:
        text: The request.
        known: The files there are, if it may name one.
    """
    body, save_to = _saving(text[:_LONGEST])
    files, topic = named_files(body, known)
    match = _NEEDS_A_MODEL.search(topic)
    beyond = (match[1] or match[2]).lower() if match else ""
    if deed := _beyond_it(topic, files):
        return Request(body, "cannot", (), files, save_to, deed)
    kind, questions = _kind(topic, files)
    if save_to and kind == "vague":  # "save that": what was answered before
        kind = "save"
    return Request(body, kind, questions, files, save_to, beyond)


def named_files(body: str, known: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The files that a request names, and the request without their names."""
    folded = body.casefold()
    found = [path for path in known if _mentions(path, folded)]
    if not found:
        names = {path: PurePosixPath(path).name for path in known}
        found = [path for path, name in names.items() if "." in name and _mentions(name, folded)]
    topic = body
    for path in found:
        for name in (path, PurePosixPath(path).name):
            topic = re.sub(re.escape(name), " ", topic, flags=re.IGNORECASE)
    strange = _FILE.findall(topic)
    return tuple(dict.fromkeys([*found, *strange])), _FILE.sub(" ", topic)


def leaves_the_folder(path: str) -> bool:
    """Whether a path is not a plain name below the person's files."""
    parts = PurePosixPath(path).parts
    home = parts[:2] in (("/", "workspace"), ("/", "files"))
    return ".." in parts or path.startswith("~") or (path.startswith("/") and not home)


def _beyond_it(topic: str, files: tuple[str, ...]) -> str:
    """What it is asked to do that it has no means for."""
    if is_sum(topic):
        return "calculate"
    match = _CANNOT.search(topic)
    deed = (match[1] or match[2]).lower() if match else ""
    return "" if deed == "translate" and files else deed  # of a file, the outline can be shown


def _mentions(name: str, folded: str) -> bool:
    """Whether a name stands in a text, and not as a piece of a longer one."""
    name = name.casefold()
    return name in folded and bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?!\w)", folded))


def _saving(text: str) -> tuple[str, str]:
    """The request without its wish to save the answer, and where to save it."""
    if match := _SAVE.search(text):
        rest = (text[: match.start()] + text[match.end() :]).strip(" .")
        told = key_terms(rest) or _FILE.search(rest) or not key_terms(match["what"])
        return rest if told else f"{rest} {match['what']}".strip(), match["path"]
    if match := _CREATE.match(text):
        name = "-".join(re.findall(r"\w+", match[1].lower())) or "notes"
        return match[2] or match[1], f"{name}.md"
    return text, ""


def _kind(topic: str, files: tuple[str, ...]) -> tuple[Kind, tuple[str, ...]]:
    for pattern, kind in _SHORT:
        if pattern.search(topic):
            return kind, ()
    if _OUTLINE.search(topic) or (files and _NEEDS_A_MODEL.search(topic)):
        return "outline", (topic,)
    if (match := _SHOW.search(topic)) and (files or key_terms(topic[match.end() :])):
        return "show", (topic[match.end() :],)
    if files and not key_terms(topic):
        return "show", (topic,)
    return _asked(topic)


def _asked(topic: str) -> tuple[Kind, tuple[str, ...]]:
    if match := _MENTIONS.search(topic):
        wanted = next(group for group in match.groups() if group)
        if key_terms(wanted):
            return "mentions", (wanted.strip(" .?!\"'"),)
    if _CHATTER.search(topic) or not key_terms(topic):
        return "vague", ()
    if (match := _ABOUT.search(topic)) and len(key_terms(match[1])) == 1:
        return "about", (match[1].strip(" .?!"),)
    questions = split_questions(topic)
    return ("question", questions) if questions else ("vague", ())


def is_sum(text: str) -> bool:
    """Whether a text asks what two and two are."""
    return _SUM.match(text) is not None


def split_questions(text: str) -> tuple[str, ...]:
    """The questions of a request, if it holds several; else the whole of it as one."""
    parts = [_BULLET.sub("", part).strip() for part in _PARTS.split(text)]
    asked = [part for part in parts if key_terms(part)]
    bullets = sum(bool(_BULLET.match(part)) for part in _PARTS.split(text))
    questions = [part for part in asked if part.endswith("?")]
    if len(questions) > 1:
        return tuple(questions[:MOST_QUESTIONS])
    if len(key_terms(text)) > LONG_TASK and (last := _LAST_QUESTION.search(text)):
        return (last[0].strip(),) if key_terms(last[0]) else (" ".join(text.split()),)
    if bullets > 1:
        listed = [_BULLET.sub("", p).strip() for p in _PARTS.split(text) if _BULLET.match(p)]
        return tuple(part for part in listed if key_terms(part))[:MOST_QUESTIONS]
    return (" ".join(text.split()),)
