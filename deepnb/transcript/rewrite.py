"""Markdown from a model, written anew from what a parser understood of it.

Whatever reads a file knows Markdown a little differently, and raw HTML besides. So nothing is
copied: what comes out are the few constructs written here, with every special character of the
text escaped and every block closed. Not even code is copied where it could end up as something
else: in some readers a formula that begins in one block of code and ends in another undoes both.
So there is no `<` in what comes out that could begin a tag of somebody else's.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from markdown_it.tree import SyntaxTreeNode

from deepnb.transcript.prose import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SPECIAL = re.compile(
    r"[`*\[\]$]"
    r"|(?<!\w)_|_(?!\w)|~(?=~|$)|^~|!$"  # at an end, it may meet a mark of ours
)
_ENTITY = re.compile(r"&(?=#?\w+;)")
_BACKSLASH = re.compile(r"\\(?![A-Za-z0-9])|\\(?=(?:begin|end)\b)")  # else, it is just that
_BLOCK_START = re.compile(r"(?m)^(?:([#>+=|-]|:(?=-)|~(?=~~)|`(?=``))|(\d{1,9})([.)]))")
_RULES = {"left": ":--", "right": "--:", "center": ":-:"}
_RISKY = re.compile(r"<[A-Za-z/!?]|\$\$|\\\\[(\[)\]]|\\(?:begin|end)\b")
_RISKY_INSIDE = re.compile(rf"{_RISKY.pattern}|\][(\[:]")
"""Tags and formulas; and inside of lists and quotes, which are read in different ways, links."""


def rewrite(text: str) -> str:
    """Give the Markdown of a text that is safe to be put between other Markdown."""
    return _blocks(SyntaxTreeNode(parse(text)).children)


def plain(text: str) -> str:
    """Give Markdown that shows a text as it is, line by line."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join("\\\n".join(map(_lines, map(_escaped, p.split("\n")))) for p in paragraphs)


def code(text: str, language: str = "", risky: re.Pattern[str] = _RISKY) -> str:
    """Give a block of code that its content cannot leave."""
    if risky.search(text):
        return f"<pre><code>{inert(text.rstrip())}</code></pre>"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def inert(text: str) -> str:
    """Give text for between HTML tags, where some readers look for Markdown and some do not."""
    # A line end is a number too: on one line there are no blocks to be found.
    return re.sub(r"[`*\[\]$\\\n]", _as_number, escape(text))


def _as_number(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _blocks(nodes: Sequence[SyntaxTreeNode], *, nested: bool = False) -> str:
    tight = any(node.hidden for node in nodes)
    return ("\n" if tight else "\n\n").join(_block(node, nested=nested) for node in nodes)


def _block(node: SyntaxTreeNode, *, nested: bool) -> str:
    if node.type in {"fence", "code_block"}:
        return _code(node, nested=nested)
    return _BLOCKS.get(node.type, _inline)(node)


def _heading(node: SyntaxTreeNode) -> str:
    title = " ".join(_inline(node).replace("\\\n", "\n").split())
    title = re.sub(r"#$", r"\\#", title)  # it would count as the closing of the heading
    return f"{'#' * int(node.tag[1])} {title}".rstrip()


def _quote(node: SyntaxTreeNode) -> str:
    return _indented(_blocks(node.children, nested=True), "> ", "> ")


def _rule(node: SyntaxTreeNode) -> str:
    return "___"  # means nothing else, below whatever it stands


def _code(node: SyntaxTreeNode, *, nested: bool) -> str:
    language = re.match(r"[\w+#.-]{0,30}", node.info.strip())
    risky = _RISKY_INSIDE if nested else _RISKY
    return code(node.content, language[0] if language else "", risky)


def _list(node: SyntaxTreeNode) -> str:
    number = int(node.attrs.get("start", 1))
    items = []
    for item in node.children:
        bullet = item.markup
        if node.type == "ordered_list":
            bullet = f"{number}{item.markup}"
            number += 1
        content = _blocks(item.children, nested=True)
        items.append(_indented(content, f"{bullet} ", " " * (len(bullet) + 1)))
    tight = all(
        block.hidden for i in node.children for block in i.children if block.type == "paragraph"
    )
    return ("\n" if tight else "\n\n").join(items)


def _table(node: SyntaxTreeNode) -> str:
    rows = [
        [_inline(cell).replace("|", "\\|") for cell in row.children]
        for part in node.children
        for row in part.children
    ]
    rules = [
        _RULES.get(str(c.attrs.get("align")), "---") for c in node.children[0].children[0].children
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], rules, *rows[1:]])


def _indented(text: str, first: str, others: str) -> str:
    head, *rest = text.split("\n")
    return "\n".join([f"{first}{head}".rstrip(), *(f"{others}{line}".rstrip() for line in rest)])


def _inline(node: SyntaxTreeNode) -> str:
    inline = node.children[0].children if node.children else []
    return _lines("".join(map(_span, inline)))


def _span(node: SyntaxTreeNode) -> str:
    return _SPANS.get(node.type, _emphasis)(node)


def _spans(node: SyntaxTreeNode) -> str:
    return "".join(map(_span, node.children))


def _text(node: SyntaxTreeNode) -> str:
    return _escaped(node.content.replace("\n", " "))


def _emphasis(node: SyntaxTreeNode) -> str:
    return f"{node.markup}{_spans(node)}{node.markup}"


def _link(node: SyntaxTreeNode) -> str:
    address = str(node.attrs["href"]).replace("(", "%28").replace(")", "%29")
    return f"[{_spans(node)}]({address.replace('&', '&amp;')})"


def _formula(node: SyntaxTreeNode) -> str:
    formula = node.content.replace("<", r"\lt ")
    return f"{node.markup}{formula}{node.markup}"


def _code_span(node: SyntaxTreeNode) -> str:
    text = node.content
    if _RISKY.search(text) or "``" in text:
        # What is between the tags is still Markdown, so that every mark in it is a number.
        return f"<code>{re.sub(r'[!-/:-@[-`{-~]', _as_number, text)}</code>"
    fence = "``" if "`" in text else "`"
    pad = " " if text.strip(" `") != text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _escaped(text: str) -> str:
    text = _BACKSLASH.sub("&#92;", _ENTITY.sub("&amp;", text))
    return _SPECIAL.sub(r"\\\g<0>", text).replace("<", "&lt;")


def _lines(text: str) -> str:
    """Keep the beginnings of lines from beginning anything else."""
    lines = "\n".join(line.strip() for line in text.split("\n"))
    return _BLOCK_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", lines)


_BLOCKS: dict[str, Callable[[SyntaxTreeNode], str]] = {
    "heading": _heading,
    "blockquote": _quote,
    "bullet_list": _list,
    "ordered_list": _list,
    "table": _table,
    "hr": _rule,
}
_SPANS: dict[str, Callable[[SyntaxTreeNode], str]] = {
    "text": _text,
    "softbreak": lambda _: "\n",
    "hardbreak": lambda _: "\\\n",
    "code_inline": _code_span,
    "formula": _formula,
    "link": _link,
}
