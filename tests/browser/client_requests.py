"""Files that tools stumble over, and what can be asked of them: by hand, and by chance."""

from __future__ import annotations

import json

NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "source": ["x = 1\n"]}], "nbformat": 4, "metadata": {}}
).encode()
PROSE = (
    "# Lakes\n\nLake Como is 425 m deep, e.g. deeper than Garda. Dr. Rossi measured it in Sept. "
    "2019. The temperatures (at 30 C. or so) differ; see Fig. 3. Am 3. Mai war es kalt.\n\n"
    "- the first item is short\n- the second one, too\n1. numbered\n2. items\n\n"
    + "Oxygen-poor water doesn't mix well; low oxygen is measured daily in the deepest layers. "
    * 15
    + "\n\n"
    + "unbroken" * 200
    + "\n\n\u6e56\u306f\u6df1\u3044\u3002\u6c34\u306f\u51b7\u305f\u3044\u3002" * 40
    + "\n\nStra\u00dfe und STRASSE, caf\u00e9 und cafe\u0301, "
    + "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2, \u0130stanbul, \ufb01sh.\n"
    + "e\u0301" * 600
    + "\n\n"
    + "\U0001f41f fish and \U0001f30a waves are swimming here. " * 40
    + "\n"
)
FILES = {
    "/docs/plain.md": b"one\ntwo\n\n  three\nfour",
    "/docs/prose.md": PROSE.encode(),
    "/docs/windows.txt": b"first\r\nsecond line\r\n\r\nfourth\r\n",
    "/docs/mixed.txt": b"a = 1\r\nb = 2\nc = 3\r\na = 1\nb = 2\n",
    "/docs/marked.csv": b"\xef\xbb\xbfname,depth\nComo,425\n",
    "/docs/old.txt": "Z\u00fcrich \u20ac 5 \u2013 caf\u00e9\nplain line\n".encode("cp1252")
    + b"\x81\x8d?\n",
    "/docs/half.txt": b"good \xc3\xa9\nbad \xc3\n\xf0\x9f\x90 cut\n",
    "/docs/zero.bin": b"text\nand\0more text\n",
    "/docs/late.bin": b"word\n" * 4000 + b"\0",
    "/docs/picture.png": b"\x89PNG\r\n\x1a\n",
    "/docs/named.pdf": b"no PDF at all\n",
    "/docs/hidden pdf.txt": b"%PDF-1.7\n",
    "/docs/wide.txt": "Gr\u00fc\u00dfe".encode("utf-16"),
    "/docs/empty.txt": b"",
    "/docs/feeds.txt": b"\n\n\n",
    "/docs/returns.txt": b"a\rb\r\r\nc\r",
    "/docs/long.txt": b"short\n"
    + b"x" * 70_000
    + "\u00e9".encode() * 40_000
    + b"\r\nafter\nword "
    + b"y" * 1500,
    "/docs/exact.txt": b"z" * 65_535 + b"\n" + b"z" * 65_536 + b"\nend\n" + b"z" * 65_536,
    "/docs/many.txt": b"".join(b"line %d of many\n" % number for number in range(5000)),
    "/docs/large.txt": (b"line of a large file" + b"." * 180 + b"\n") * 3000,
    "/docs/note.ipynb": NOTEBOOK,
    "/docs/\U0001f41f fish \U0001f30a.md": "\U0001f41f".encode() * 1100 + b"\nword fish\n",
    "/docs/\uff5e tilde.md": b"word\n",
    "/docs/caf\u00e9.md": b"composed word\n",
    "/docs/cafe\u0301.md": b"decomposed word\n",
    "/docs/README.md": b"big Word\n",
    "/docs/readme.md": b"small word\n",
    "/docs/" + "n" * 252 + ".md": b"long name word\n",
    "/docs/CON.txt": b"device word\n",
    '/docs/it\'s "quoted".md': b"word\n",
    "/docs/it's.md": b"word\n",
    "/docs/report..final.md": b"word\n",
    "/docs/[...slug].md": b"f(x) = [1.*] word\n",
    "/docs/{a,b}.txt": b"braces word\n",
    "/docs/a*b?.txt": b"stars word\n",
    "/docs/.hidden.md": b"hidden word\n",
    "/docs/.config/inner.md": b"inside hidden word\n",
    "/docs/sub/a.py": b"def f(x):\n    return x  # word\n",
    "/docs/sub/b.md": b"Word WORD w\xc3\x96rd \xe2\x84\xaaelvin stra\xc3\x9fe\n",
    "/docs/sub/deep/c.md": b"speed speeds speeding exceeds; station stations; studies studied\n",
    "/docs/sub/deep/d.txt": b"deep word\n",
    "/docs/zed/a.md": b"the last folder's word\n",
}

PATHS = [*FILES, "/docs", "/docs/", "docs/sub", "/docs/sub/deep/", "/docs/.config", "/"]
MISSING = [
    "/docs/none.md",
    "/none",
    "/docs/plain.md/x",
    "/docs/plain.md/x/y",
    "/docs/sub/none/x.md",
]
BAD = [
    "../x",
    "/docs/../x",
    "~/x",
    "~",
    "C:/x",
    "/docs/C:x",
    "a\\b",
    "a\0b",
    "a\u202eb",
    "a\u200bb",
]
BAD += [".deepnb/log", "a/.DEEPNB/x", ".deepnb.", ".deepnb:x", "a\uff0fb", "...", ". .", "a" * 256]
BAD += [
    "\u00e9" * 128,
    "/a" * 2049,
    "\ud800",
    "a\ud83dx",
    "a\u2028b",
    "it's\x07",
    "\ufe0f",
    "\u2800x",
]
FINE = [
    "./docs/./plain.md",
    "//docs//plain.md",
    "/docs/\ufffd.md",
    "a/",
    "/docs/sub/deep/",
]

PATTERNS = [
    "*",
    "*.md",
    "**",
    "**/*",
    "/*",
    "/*.md",
    "sub/*",
    "sub/**",
    "sub/**/*.md",
    "**/c.*",
    "?.md",
]
PATTERNS += [
    "?.{md,txt,py}",
    "[!a].md",
    "[^a].md",
    "[a-c].*",
    "[]a].md",
    "[!]a].md",
    "[[:alpha:]].md",
]
PATTERNS += [
    ".*",
    ".*/*",
    "**/.*",
    ".hidden*",
    "*.*",
    "**.md",
    "a**",
    "{a,b}.md",
    "{sub,zed}/a.*",
    "{a",
]
PATTERNS += [
    "\\{a,b\\}.txt",
    "a\\*b\\?.txt",
    "a*b*",
    "[[]...slug[]].md",
    "\\[*",
    "{1..3}.md",
    "{a..c}.md",
]
PATTERNS += [
    "",
    "/",
    "docs/*.md",
    "/docs/sub/**/",
    "sub/",
    "sub//b.md",
    "./*",
    "../*",
    "a/../b",
    "x\\..\\y",
]
PATTERNS += [
    "*\U0001f30a*",
    "?\U0001f30a.md",
    "caf?.md",
    "cafe?.md",
    "*'*",
    "README.MD",
    "readme.md",
    "[z-a].md",
]
PATTERNS += [
    "{1..2000}",
    "{a,b}{c,d}.md",
    "{{a,b},c}.md",
    "{a}.md",
    "{,sub/}b.md",
    "*a*a*a*a*a*a*a*b",
    "[a-",
]
PATTERNS += [
    "**/deep/**",
    "**/sub/**/d.*",
    "sub/**/deep/c.md",
    "[[:upper:]]*",
    "n*.md",
    "*[.]md",
    "[\\]]*",
]
PATTERNS += [
    "\\",
    "a\\",
    "[-a]*",
    "[a-]*",
    "[!-a]*",
    "?",
    "??",
    ".??*",
    "*.{py",
    "**/**/b.md",
    "docs/**",
]
WORDS = [
    "word",
    "Word",
    "WORD",
    "f(x)",
    "[1.*]",
    "line 49",
    "\u00e9",
    "e\u0301",
    "\u00fc",
    "K",
    "\u212a",
    "ss",
]
WORDS += [
    "\u00df",
    "\U0001f41f",
    " ",
    "\r",
    "a\rb",
    "x",
    "",
    "a\nb",
    "a\0b",
    "\ud800",
    "^",
    "\\",
    "z" * 50,
]
WORDS += [
    "\ufeff",
    "name,depth",
    "caf",
    "deep",
    "yyy",
    "W\u00f6rd",
    "PNG",
    "PDF",
    "-",
    "--",
    "-e",
]
QUERIES = [
    "oxygen in deep water",
    "low-oxygen",
    "Lake Como",
    "fish waves swimming",
    "Strasse",
    "station speed",
]
QUERIES += [
    "\u6df1\u3044",
    "what is it",
    "",
    "word",
    "unbroken",
    "studies",
    "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3",
    "istanbul",
    "cafe\u0301",
]
QUERIES += [
    "425",
    "numbered items",
    "first",
    "def return x",
    "cells nbformat",
    "large file line",
    "many lines",
]


def ask(tool, **args):
    return {"tool": tool, "args": args}


def questions(chance):
    """What reads: each kind of path, pattern and text, and some hundreds of mixtures."""
    everywhere = [*PATHS, *MISSING, *BAD, *FINE]
    asked = [ask("list_files", path=path) for path in everywhere]
    asked += [ask("read_file", path=path) for path in everywhere]
    asked += [ask("glob_files", pattern=pattern, path="/docs") for pattern in PATTERNS]
    asked += [ask("grep_files", pattern="\ufffd", path="/docs")]  # which bad bytes only look like
    asked += [ask("grep_files", pattern=word, path="/docs") for word in WORDS]
    asked += [ask("grep_files", pattern=word, path="/docs", case_sensitive=False) for word in WORDS]
    asked += [ask("grep_files", pattern="word", path=path) for path in everywhere]
    asked += [ask("glob_files", pattern="*", path=path) for path in everywhere]
    asked += [ask("search_files", query=query, top_k=20) for query in QUERIES]
    asked += [ask("search_files", query="word", path=path, top_k=100) for path in PATHS[::3]]
    asked += [ask("search_files", query="word", path=path) for path in [*MISSING, *FINE]]
    asked += list(malformed())
    asked += [_by_chance(chance) for _ in range(250)]
    return asked


def _by_chance(chance):
    path = chance.choice([*PATHS, *PATHS, *MISSING, *FINE])
    tool = chance.choice(["read_file", "read_file", "grep_files", "glob_files", "search_files"])
    if tool == "read_file":
        offset = chance.choice([0, 1, 2, 3, 4, 5, 100, 4999, 5000, 5001, 2999, 2**53])
        return ask(tool, path=path, offset=offset, limit=chance.choice([0, 1, 2, 3, 1000, 2**53]))
    if tool == "glob_files":
        return ask(tool, path=path, pattern=_pattern(chance))
    if tool == "search_files":
        words = PROSE.split()
        query = " ".join(chance.choice(words)[:40] for _ in range(chance.randint(1, 6)))
        return ask(tool, query=query, path=path, top_k=chance.randint(0, 12))
    if chance.random() < 0.5:
        word = chance.choice(WORDS)
    else:
        line = chance.choice(PROSE.split("\n"))
        start = chance.randint(0, len(line))
        word = line[start : start + chance.randint(1, 12)]
    return ask(
        tool,
        path=path,
        pattern=word,
        glob=chance.choice([None, None, _pattern(chance)]),
        case_sensitive=chance.random() < 0.5,
        max_count=chance.choice([None, 0, 1, 3, 10_000]),
    )


def _pattern(chance):
    pieces = [
        "*",
        "**",
        "?",
        "/",
        "a",
        "b",
        ".md",
        ".txt",
        "sub",
        "deep",
        "[a-c]",
        "[!x]",
        "{a,b}",
        ".",
    ]
    pieces += ["c", "\U0001f41f", "{md,txt}", "word", "[[:lower:]]", "/**/", "docs"]
    return "".join(chance.choice(pieces) for _ in range(chance.randint(1, 5)))


def malformed():
    """Requests that no tool can make sense of."""
    for args in [None, [], "x", 3, {}, {"path": 3}, {"path": None}, {"path": ["a"]}, {"x": 1}]:
        for tool in ["list_files", "read_file", "write_file", "patch_file", "glob_files"]:
            yield {"tool": tool, "args": args}
    for tool in [
        None,
        3,
        "",
        "rm_files",
        "toString",
        "__proto__",
        ["list_files"],
        {"a": "b'"},
        True,
        1.5,
    ]:
        yield {"tool": tool, "args": {"path": "/"}}
    yield ask("read_file", path="a", offset=-1)
    yield ask("read_file", path="a", offset=1.5)
    yield ask("read_file", path="a", offset=True)
    yield ask("read_file", path="a", offset="1")
    yield ask("read_file", path="a", offset=2**60)
    yield ask("read_file", path="a", offset=None)
    yield ask("read_file", path="/docs/plain.md", limit=-2)
    yield ask("search_files", query="x", top_k=101)
    yield ask("search_files", query=3)
    yield ask("grep_files", pattern="x", case_sensitive=1)
    yield ask("grep_files", pattern="x", glob=3)
    yield ask("grep_files", pattern="x", max_count=-1)
    yield ask("grep_files", pattern="word", path="/docs", glob="../*")
    yield ask("grep_files", pattern="word", path="/docs", glob="")
    yield ask("patch_file", path="a", search="x", replace="y", replace_all="yes")
    yield ask("write_file", path="a", content="x", mode="fast")


def changes(chance):
    """What writes, each change upon those before."""
    texts = [
        "",
        "new\n",
        "a\r\nb\n",
        "\u00e9\U0001f41f",
        "x" * 300_000,
        "\ufeffmarked",
        "half \ud83d",
    ]
    asked = []
    for path in [
        *FILES,
        *MISSING,
        *BAD,
        "/docs",
        "/",
        "/docs/new/far/away.md",
        "/docs/x.PDF",
        "/docs/a/",
    ]:
        asked += [ask("patch_file", path=path, search="word", replace="term\nand more")]
        asked += [ask("patch_file", path=path, search="a", replace="b", replace_all=True)]
        asked += [ask("patch_file", path=path, search="\nb = 2\n", replace="\nb = 3\nx\ny\n")]
        asked += [ask("patch_file", path=path, search=" = 1\nb", replace="", replace_all=True)]
        if chance.random() < 0.5:
            asked += [ask("write_file", path=path, content=chance.choice(texts))]
    for old, new in [
        ("", "x"),
        ("x", "x"),
        ("a\r\nb", "a\nb"),
        ("two", "\ud800"),
        ("four", "five\r\nsix"),
    ]:
        asked += [ask("patch_file", path="/docs/plain.md", search=old, replace=new)]
    for content in [
        "",
        "{}",
        "[]",
        "no json",
        '{"cells": [], "nbformat": 4}',
        '{"cells": 1, "nbformat": 4}',
    ]:
        asked += [ask("write_file", path="/docs/other.ipynb", content=content)]
    asked += [ask("patch_file", path="/docs/note.ipynb", search="x = 1", replace='y"')]
    asked += [ask("patch_file", path="/docs/note.ipynb", search="x = 1", replace="y = 2")]
    asked += [ask("list_files", path="/docs"), ask("grep_files", pattern="b", path="/docs")]
    asked += [ask("glob_files", pattern="*"), ask("read_file", path="/docs/mixed.txt")]
    return asked
