"""A report as something to read, to keep and to send on; what is in it does nothing."""

from __future__ import annotations

import ast
import re
import sys
from html.parser import HTMLParser

import docx
import nbformat
import pytest

from deepnb.citations.frames import citations_frame, sources_frame
from deepnb.citations.report import Report
from deepnb.citations.verdicts import check
from deepnb.errors import ExportError, MissingExtraError
from tests.citations.samples import sources

TEXT = """
The report says “Lake Ansel covers 41 hectares” [S1].

- The **aeration pump** began to work in June 2021 [S1].
- It says “the mud was never the main thing” [S2].
- Whales are kept in green lakes. [S3]

> That is a reduction of 38 %.

[S1]
"""
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> {\\input{x}} \x07\u202e[S1] ''' '); x("
)


def report(settled=None, hostile=False):
    given = sources()
    if hostile:
        for source in given.values():
            source["title"] = source["location"] = HOSTILE
            for passage in source["passages"]:
                passage["text"] += HOSTILE
                passage["place"] = HOSTILE
    text = f"{TEXT}\n\n{HOSTILE}\n\n“{HOSTILE}” [S1]" if hostile else TEXT
    question = HOSTILE if hostile else "How is the lake?"
    return Report(check(text, given), given, question=question, settled=settled)


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def test_markdown_has_conflicts_sources_counts_and_every_verdict():
    text = report({"C4": (1_700_000_000.0, "I have asked | her")}).markdown
    headings = re.findall(r"(?m)^#.*", text)
    assert headings == ["# How is the lake?", "## Possible conflicts", "## Sources", "## Claims"]
    assert "| ⇄ misattributed |" in text
    assert "✗ not found; checked by a person, 2023-11-14 22:13 UTC: I have asked \\| her" in text
    assert str(report()) == report().markdown
    assert repr(report()).startswith(
        "<Report 'How is the lake?': 5 claims: 2 quoted, 1 paraphrased"
    )


def test_in_a_notebook_each_mark_is_a_chip_that_tells_its_verdict():
    html = report()._repr_html_()
    verdicts = re.findall(r'<span class="dnt-chip[^>]* data-verdict="([^"]*)"', html)
    assert verdicts == [row["verdict"] for row in report().citations]
    assert "<mark>Lake Ansel covers 41 hectares</mark>. Its mean depth is 4.2 m." in html
    assert "<p>Possibly a differing number about" in html


def test_a_page_shows_every_claim_and_what_a_person_noted_without_pointing_at_it(tmp_path):
    made = report({"C4": (1_700_000_000.0, "I have <asked> her")})
    html = made.write(tmp_path / "r.html").read_text("utf-8")
    seen = re.sub(r'title="[^"]*"', "", html)
    said = "✗ not found; checked by a person, 2023-11-14 22:13 UTC: I have &lt;asked&gt; her"
    assert f"<td>{said}</td>" in seen
    assert "<details open><summary>Claims</summary>" in seen
    for row in made.citations:
        assert f"<tr><td>{row['id']}</td>" in seen


@pytest.mark.parametrize("suffix", [".md", ".html", ".docx", ".ipynb", ".bib"])
def test_nothing_is_overwritten_unless_asked(tmp_path, suffix):
    path = tmp_path / f"report{suffix}"
    path.write_text("mine")
    with pytest.raises(ExportError, match="exists, and is left as it is"):
        report().write(path)
    assert path.read_text() == "mine"
    assert report().write(path, overwrite=True) == path
    assert path.read_bytes() != b"mine"
    assert list(tmp_path.iterdir()) == [path]


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ExportError, match=r"End it in .md, .html, .docx, .ipynb or .bib"):
        report().write(tmp_path / "report.pdf")


def test_a_page_runs_and_loads_nothing_whatever_is_in_it(tmp_path):
    html = report(hostile=True).write(tmp_path / "r.html").read_text("utf-8")
    seen = Tags(html)
    assert not seen.tags & {"script", "img", "iframe", "link", "base", "form", "object"}
    assert not {name for name in seen.attributes if name.startswith("on")} | (
        seen.attributes & {"src", "srcset"}
    )
    assert "default-src 'none'" in html
    assert "\u202e" not in html


def test_without_what_writes_word_it_names_the_smallest_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'deepnb\[documents\]'$"):
        report().write(tmp_path / "r.docx")


def test_word_has_headings_lists_quotes_and_verdicts_in_words(tmp_path):
    document = docx.Document(report().write(tmp_path / "r.docx"))
    styles = {paragraph.style.name for paragraph in document.paragraphs}
    assert {"Title", "Heading 1", "List Bullet", "Quote"} <= styles
    headings = [p.text for p in document.paragraphs if p.style.name == "Heading 1"]
    assert headings == ["Possible conflicts", "Sources", "Claims"]
    claims = document.tables[-1]
    assert [row.cells[3].text for row in claims.rows][1:] == [
        "✓ quoted",
        "≈ source matched, support not verified",
        "⇄ misattributed",
        "✗ not found",
        "✓ quoted",
    ]
    docx.Document(report(hostile=True).write(tmp_path / "hostile.docx"))


def test_a_notebook_shows_its_claims_without_the_session(tmp_path):
    for made in (report({"C1": (0.0, "x")}), report(hostile=True)):
        path = made.write(tmp_path / "r.ipynb", overwrite=True)
        text, claims = nbformat.read(path, as_version=4).cells
        nbformat.validate(nbformat.read(path, as_version=4))
        assert text.source.startswith("# ")
        # One import, one table of literals, and its name: nothing that a text could have added.
        imported, assigned, shown = ast.parse(claims.source).body
        rows = ast.literal_eval(assigned.value.args[0])
        assert (type(imported), shown.value.id) == (ast.Import, "citations")
        assert [row["verdict"] for row in rows] == [row["verdict"] for row in made.citations]
        assert "<script" not in claims.outputs[0].data["text/html"]


def test_bibtex_has_what_is_cited_and_is_escaped(tmp_path):
    text = report().write(tmp_path / "r.bib").read_text("utf-8")
    assert text.count("@misc{") == 3
    assert "url = {https://ansel.example/press}" in text
    assert "cited: p. 1, p. 2, p. 3}" in text
    hostile = report(hostile=True).write(tmp_path / "h.bib").read_text("utf-8")
    bare = hostile.replace("\\{", "").replace("\\}", "")
    assert bare.count("{") == bare.count("}")
    assert "\\input{" not in hostile


def test_frames():
    made = report({"C2": (1_700_000_000.0, "seen")})
    claims = citations_frame(made.citations, made.settled)
    assert list(claims["verdict"]) == [row["verdict"] for row in made.citations]
    assert claims["settled"].notna().sum() == 1
    assert claims.loc[1, "note"] == "seen"
    read = sources_frame(made.sources, made.citations)
    assert list(read["cited"]) == [3, 1, 1]
    assert list(read["quoted"]) == [2, 0, 0]
    assert read.loc[0, "passages"] == 3
    assert citations_frame([]).empty
