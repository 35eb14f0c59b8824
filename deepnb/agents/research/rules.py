"""The few sentences that a policy's rules are written in.

A policy is a Markdown file. Only its list items are rules, each in the section it belongs to; all
else is for people. What could be a rule and is not understood makes the whole policy invalid:
a rule that is skipped in silence is worse than none.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

from deepnb.agents.research.hosts import normal_host
from deepnb.agents.research.spellings import fold, shown
from deepnb.errors import PathError, PolicyError
from deepnb.files.paths import safe_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markdown_it.token import Token

About = Literal["knowledge", "files", "hosts", "requests", "tools", "words"]
FOR_THE_AUDITOR = "For the auditor"
LARGEST = 64 * 1024

_ITEM = r'(?:`[^`]+`|"[^"]+"|“[^”]+”|[^\s,`"“”]+)'
_BETWEEN = r"(?:, (?:and )?| and )"
_LIST = re.compile(rf"{_ITEM}(?:{_BETWEEN}{_ITEM})*")
_LISTED = re.compile(rf"(?:^|{_BETWEEN})({_ITEM})")
_TOOL = re.compile(r"[A-Za-z0-9_.*-]{1,128}")
_LIKE_A_RULE = re.compile(r"(?im)^\W*(?:allow|deny|permit|forbid|block|at most)\b|<!--")
_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*-->\s*", re.DOTALL)
_PLAIN = {"paragraph", "heading", "bullet_list", "ordered_list", "list_item", "inline", "hr"}


class Rule(NamedTuple):
    """What a list item says: `allow files a, b` is ("allow", "files", ("a", "b"))."""

    verb: str
    about: About
    values: tuple[str, ...]


class Form(NamedTuple):
    """A sentence that is understood in a section."""

    section: str
    about: About
    sentence: re.Pattern[str]
    example: str
    clean: Callable[[str], str]


def _path(text: str) -> str:
    if text.startswith("/"):
        raise ValueError("paths begin in the workspace: leave the first '/' out")
    names = "/".join(safe_parts(text))
    if not names:
        raise ValueError("it names no file: write ** for all files")
    return f"{names}/**" if text.endswith("/") else names


def _host(text: str) -> str:
    if text == "*":
        return text
    below = text.startswith("*.")
    return ("*." if below else "") + normal_host(text.removeprefix("*.") if below else text)


def _tool(text: str) -> str:
    if not _TOOL.fullmatch(text):
        raise ValueError("it is not the name of a tool")
    return text


def _words(text: str) -> str:
    if not fold(text):
        raise ValueError("there is no word in it")
    return text


def _form(
    section: str, about: About, sentence: str, example: str, clean: Callable[[str], str] = str
) -> Form:
    return Form(section, about, re.compile(sentence, re.IGNORECASE), example, clean)


FORMS = (
    _form(
        "Data access",
        "knowledge",
        r"(allow|deny) the (knowledge base)",
        "allow the knowledge base",
    ),
    _form(
        "Data access",
        "files",
        r"(allow|deny) files? (.+)",
        "deny files `private/**`, `*.key`",
        _path,
    ),
    _form(
        "External requests",
        "hosts",
        r"(allow|deny) hosts? (.+)",
        "allow hosts `*.arxiv.org`, doi.org",
        _host,
    ),
    _form(
        "External requests",
        "requests",
        r"(at most) ([0-9]{1,4}) external requests?",
        "at most 10 external requests",
    ),
    _form(
        "Allowed tools",
        "tools",
        r"(allow|deny) (?:the tools? )?(.+)",
        "allow search_knowledge, read_file",
        _tool,
    ),
    _form(
        "Content",
        "words",
        r"(deny) the words? (.+)",
        'deny the words "patient name", "home address"',
        _words,
    ),
)
SECTIONS = tuple(dict.fromkeys(form.section for form in FORMS))


def read(text: str, name: str) -> tuple[tuple[Rule, ...], str]:
    """Give the rules of a policy, and what it tells the auditor in prose.

    Raises:
        PolicyError: Something in it is not understood; it names the line.
    """
    return _Reader(re.sub(r"\r\n?", "\n", text), name).read()


class _Reader:
    """Goes through a policy once, and knows in which section it is."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.line = 0
        self.seen: list[str] = []
        self.prose = ""

    def read(self) -> tuple[tuple[Rule, ...], str]:
        rules = tuple(self._rules())
        for section in SECTIONS:
            if section not in self.seen:
                raise PolicyError(
                    f"{self.name} has no section '## {section}', so nothing is approved. Add it; "
                    "without a rule in it, it allows nothing."
                )
        return rules, self.prose

    def _rules(self) -> Iterator[Rule]:
        from markdown_it import MarkdownIt

        items = 0  # how many list items are open
        tokens = MarkdownIt("commonmark").disable("inline").parse(self.text)
        for before, token in pairwise([tokens[0], *tokens] if tokens else []):
            self.line = token.map[0] + 1 if token.map else self.line
            items += token.nesting if token.type.startswith("list_item") else 0
            if token.type == "inline" and before.type == "heading_open":
                self._enter(token.content.strip(), before.tag)
            elif self.seen[-1:] == [FOR_THE_AUDITOR]:
                continue
            elif token.type == "inline" and items:
                yield self._rule(" ".join(token.content.split()))
            else:
                is_empty = (before.type, token.type) == ("list_item_open", "list_item_close")
                self._check_prose(token, hides=is_empty or items > 1)

    def _enter(self, title: str, level: str) -> None:
        """Begin a section, if this heading does; otherwise it is prose."""
        is_title = level == "h1" and not self.seen
        if is_title or level not in ("h1", "h2"):
            return
        if FOR_THE_AUDITOR in self.seen:
            self._refuse(f"'{FOR_THE_AUDITOR}' is the last section. Put this one before it")
        known = {section.casefold(): section for section in (*SECTIONS, FOR_THE_AUDITOR)}
        section = known.get(title.casefold())
        if section is None or level != "h2":
            wanted = ", ".join(f"'## {each}'" for each in known.values())
            self._refuse(f"there is no section '{shown(title)}'. The sections are {wanted}")
        if section in self.seen:
            self._refuse(f"'{section}' is there twice. Put its rules together")
        self.seen.append(section)
        if section == FOR_THE_AUDITOR:
            self.prose = "\n".join(self.text.split("\n")[self.line :]).strip()

    def _check_prose(self, token: Token, *, hides: bool) -> None:
        """Refuse what may hide a rule, or be one that was meant and not written as one."""
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if token.type == "html_block" and _COMMENT.fullmatch(token.content):
            return
        if hides or kind not in _PLAIN:
            self._refuse(
                "rules are plain list items. Leave out quotations, code blocks, HTML, empty items "
                "and lists within lists, and close every comment"
            )
        if _LIKE_A_RULE.search(token.content):
            self._refuse(
                "this reads like a rule and is none. Begin the line with '- ', or say it otherwise"
            )

    def _rule(self, said: str) -> Rule:
        section = self.seen[-1] if self.seen else ""
        forms = [form for form in FORMS if form.section == section]
        if not forms:
            self._refuse("a rule stands before the first section. Put it into one of them")
        for form in forms:
            if match := form.sentence.fullmatch(said.removesuffix(".")):
                return self._with_values(form, match[1].lower(), match[2])
        understood = " or ".join(f"'- {form.example}'" for form in forms)
        return self._refuse(
            f"'{shown(said)}' is not understood under '{section}'. Write {understood}; what the "
            f"auditor should read belongs under '{FOR_THE_AUDITOR}'"
        )

    def _with_values(self, form: Form, verb: str, listed: str) -> Rule:
        if form.clean is str:
            return Rule(verb, form.about, (listed,))
        if not _LIST.fullmatch(listed):
            self._refuse(
                f"'{shown(listed)}' is not a list. Put ', ' between its parts, and quotes around "
                f"one that has a blank or a comma in it: '- {form.example}'"
            )
        values = [value.strip('`"“”').strip() for value in _LISTED.findall(listed)]
        return Rule(verb, form.about, tuple(self._clean(form, value) for value in values))

    def _clean(self, form: Form, value: str) -> str:
        try:
            return form.clean(value)
        except (PathError, ValueError) as error:
            why = str(error).removesuffix(".")
            return self._refuse(f"'{shown(value)}' cannot be used under '{form.section}': {why}")

    def _refuse(self, why: str) -> NoReturn:
        raise PolicyError(f"{self.name}, line {self.line}: {why}. Until then nothing is approved.")
