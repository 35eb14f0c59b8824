r"""Markdown from a model, parsed so that nothing in it does anything.

There is no raw HTML, a link leads to the web or is text, and an image is a link: opening a
transcript fetches nothing. Formulas (`$…$`, `\(…\)`) are kept as they were typed, since Markdown
would eat their backslashes.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.token import Token

from deepnb.events import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

_WEB = re.compile(r"(?i)https?://|mailto:")
_FORMULA = re.compile(
    r"(?<!\$)(?<!\\[)\]])(?:"  # none directly behind another: the two would be read as one
    r"\$\$(?P<display>[^$]{1,2000})\$\$"
    r"|\$(?P<inline>(?=\S)[^$\n]{1,2000}(?<=\S))\$(?!\d)"  # "$5 or $6" is money
    r"|\\\((?P<round>[^$]{1,500}?)\\\)"
    r"|\\\[(?P<square>[^$]{1,2000}?)\\\]"
    r")(?!\$|\\[(\[])"
)
_NO_FORMULA = re.compile(
    r"`|\n\n|!\[|\][(\[:]"  # code, an image or a link to a reader that knows no formulas
    r"|\\\\[(\[)\]]|\\$"  # would begin or end one, or keep it from ending
    r"|\\(?:href|url|html|style|class|cssId|require|include)"  # more than a formula
)
_ENVIRONMENT = re.compile(r"(?s)\\begin\{(\w*\*?)\}(?:(?!\\begin|\\end).)*\\end\{\1\}")
_HIGHEST_HEADING, _LOWEST_HEADING = 3, 6
_LONGEST_ADDRESS = 200
_BRACKET = re.compile(r"(?s)\\.|[\[\]]")
_MOST_OPEN = 40  # brackets, at once in a paragraph
# No sign in it is one of Markdown's, and it begins as no list, quote, heading or code does.
_PLAIN = re.compile(r"(?![\s+>#=|:-]|\d+[.)])[^\\`*_\[\]<&$~\n\r\0]++")


def parse(text: str) -> list[Token]:
    """The tokens of a Markdown text; its headings fit below a question, which has level two."""
    tokens = _MARKDOWN.parse(text)
    highest = min((int(t.tag[1]) for t in tokens if t.type == "heading_open"), default=1)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            level = int(token.tag[1]) - highest + _HIGHEST_HEADING
            token.tag = f"h{min(level, _LOWEST_HEADING)}"
        elif token.type in {"th_open", "td_open"} and (style := token.attrGet("style")):
            token.attrs = {"align": str(style).removeprefix("text-align:")}
        elif token.type == "inline":
            token.children = list(_without_effect(token.children or []))
    return tokens


def render(text: str) -> str:
    """Render a Markdown text."""
    return str(_MARKDOWN.renderer.render(parse(text), _MARKDOWN.options, {}))


def words(text: str) -> str:
    """What a Markdown text says, without its marks."""
    if _PLAIN.fullmatch(text):
        return text.rstrip()
    return " ".join(_words(token) for token in parse(text))


def _words(token: Token) -> str:
    if token.type == "inline":
        return "".join(map(_words, token.children or []))
    return " " if token.type in {"softbreak", "hardbreak"} else token.content


def _without_effect(tokens: Iterable[Token]) -> Iterator[Token]:
    links: list[str] = []
    for token in tokens:
        if token.type == "image":
            address = "" if links else str(token.attrGet("src"))
            yield from _link(token.content or "image", address)
        elif token.type == "link_open":
            links.append("" if links else str(token.attrGet("href")))  # no link in a link
            if _WEB.match(links[-1]):
                yield _opening(links[-1])
        elif token.type == "link_close":
            address = links.pop()
            yield token if _WEB.match(address) else _text(_address(address))
        else:
            yield token


def _link(label: str, address: str) -> Iterator[Token]:
    if _WEB.match(address):
        yield from (_opening(address), _text(label), Token("link_close", "a", -1))
    else:
        yield _text(f"{label}{_address(address)}")


def _opening(address: str) -> Token:
    attrs: dict[str, str | int | float] = {"href": address, "rel": "noopener noreferrer nofollow"}
    return Token("link_open", "a", 1, attrs=attrs)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _address(address: str) -> str:
    return f" ({short(address, _LONGEST_ADDRESS)})" if address else ""


def _flat(state: StateCore) -> None:
    """Make text of brackets where many are open: to pair them takes their square of time."""
    for token in state.tokens:
        if token.type == "inline" and _most_open(token.content) > _MOST_OPEN:
            token.content = _BRACKET.sub(_as_entity, token.content)


def _as_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};" if len(match[0]) == 1 else match[0]


def _most_open(text: str) -> int:
    opened = most = 0
    for match in _BRACKET.finditer(text):
        opened = max(0, opened + {"[": 1, "]": -1}.get(match[0], 0))
        most = max(most, opened)
    return most


def _formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's signature
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None or not _is_formula(match[match.lastgroup or 0]):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = match[match.lastgroup or 0]
        token.markup = "$$" if match.lastgroup in {"display", "square"} else "$"
    state.pos = match.end()
    return True


def _is_formula(text: str) -> bool:
    if _NO_FORMULA.search(text):
        return False
    before = ""
    while before != text:  # from the inside out, until no environment is left that is whole
        before, text = text, _ENVIRONMENT.sub("", text)
    return not re.search(r"\\(?:begin|end)\b", text)


def _show_formula(self: object, tokens: list[Token], index: int, *_: object) -> str:
    token = tokens[index]
    return f"<code>{escape(token.markup + token.content + token.markup)}</code>"


def diff_lines(diff: str) -> list[str]:
    """The lines of a unified diff, without the two that name the file."""
    lines = diff.rstrip("\n").split("\n")
    return lines[2:] if re.match(r"--- .*\n\+\+\+ ", diff) else lines


def diff_html(diff: str) -> str:
    """A unified diff whose lines say what they are also to a style sheet."""
    names = {"+": "add", "-": "del", "@": "at"}
    lines = (
        f'<span class="dnt-{names.get(line[:1], "same")}">{escape(line)}\n</span>'
        for line in diff_lines(diff)
    )
    return f'<pre class="dnt-diff">{"".join(lines)}</pre>'


def _highlight(code: str, language: str, _attributes: str) -> str:
    return diff_html(code) if language == "diff" else ""


_MARKDOWN = MarkdownIt("js-default", {"highlight": _highlight})
_MARKDOWN.core.ruler.before("inline", "flat", _flat)
_MARKDOWN.inline.ruler.before("escape", "formula", _formula)
_MARKDOWN.add_render_rule("formula", _show_formula)
