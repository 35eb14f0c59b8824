"""Whatever a document is, reading it ends soon, in bounded memory, and says what is wrong."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from deepnb.errors import UnreadableError
from deepnb.knowledge import readers
from tests.knowledge.documents import SCANNED, forged, pdf, repacked

XML = b'<?xml version="1.0"?>'
LAUGHS = (
    XML
    + b'<!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (n + 1, b"&%c;" % n * 10) for n in range(ord("a"), ord("j")))
    + b"]><x>&j;</x>"
)


def reason(path) -> str:
    """Why a document cannot be read, whenever that shows."""
    with pytest.raises(UnreadableError) as caught:
        list(readers.read(path).blocks)
    return caught.value.reason


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class TestPdf:
    def test_encrypted(self, tmp_path):
        path = pdf(tmp_path / "a.pdf", [["Secret."]], password="swordfish")
        assert "without its password" in reason(path)

    def test_empty(self, tmp_path):
        assert "is empty" in reason(write(tmp_path / "a.pdf", b""))

    def test_scanned(self, tmp_path):
        assert "OCR" in reason(pdf(tmp_path / "a.pdf", [SCANNED] * 3))

    def test_broken(self, tmp_path):
        assert "is broken" in reason(write(tmp_path / "a.pdf", b"%PDF-1.7\n" + b"\x00garbage" * 99))
        assert "is broken" in reason(write(tmp_path / "b.pdf", "not a PDF at all"))

    def test_cut_off_anywhere_it_is_read_in_part_or_refused(self, tmp_path):
        whole = pdf(tmp_path / "a.pdf", [[f"Page {n}."] for n in range(1, 20)]).read_bytes()
        for share in range(1, 20):
            path = write(tmp_path / "cut.pdf", whole[: len(whole) * share // 20])
            try:
                found = [block.text for block in readers.read(path).blocks]
            except UnreadableError:
                continue
            assert found == [f"Page {n}." for n in range(1, len(found) + 1)]


def office(tmp_path, kind):
    """A good file of each kind, and the part that its text is in."""
    path = tmp_path / f"good.{kind}"
    if kind == "docx":
        file = docx.Document()
        file.add_paragraph("Text.")
        part = "word/document.xml"
    elif kind == "pptx":
        file = pptx.Presentation()
        file.slides.add_slide(file.slide_layouts[0]).shapes.title.text = "Text."
        part = "ppt/slides/slide1.xml"
    else:
        file = openpyxl.Workbook()
        file.active.append(["Text."])
        part = "xl/worksheets/sheet1.xml"
    file.save(path)
    return path, part


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
class TestOffice:
    def test_a_bomb_is_refused_by_what_it_says_it_unpacks_to(self, tmp_path, kind):
        good, part = office(tmp_path, kind)
        said = forged(good, tmp_path / f"said.{kind}", part, 300_000_000)
        assert "zip bomb" in reason(said)

    def test_a_bomb_that_lies_about_it_is_not_unpacked_further(self, tmp_path, kind):
        good, part = office(tmp_path, kind)
        text = XML + b"<x>" + b" " * 20_000_000 + b"</x>"
        big = repacked(good, tmp_path / f"big.{kind}", {part: text})
        assert "is broken" in reason(forged(big, tmp_path / f"lie.{kind}", part, 1000))

    def test_entities_are_refused(self, tmp_path, kind):
        good, part = office(tmp_path, kind)
        path = repacked(good, tmp_path / f"laughs.{kind}", {part: LAUGHS})
        assert "declares entities" in reason(path)

    def test_parts_that_overlap_are_refused(self, tmp_path, kind):
        good, _ = office(tmp_path, kind)
        data = bytearray(good.read_bytes())
        with zipfile.ZipFile(good) as archive:
            first, second, *_ = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
            entry = data.index(second.filename.encode(), archive.start_dir) - 46
        data[entry + 42 : entry + 46] = (first.header_offset + 1).to_bytes(4, "little")
        assert "overlap" in reason(write(tmp_path / f"overlap.{kind}", bytes(data)))

    def test_an_archive_in_an_archive_is_not_opened(self, tmp_path, kind):
        good, _ = office(tmp_path, kind)
        inner = {"word/embeddings/inner.zip": good.read_bytes()}
        path = repacked(good, tmp_path / f"nested.{kind}", inner)
        assert [block.text for block in readers.read(path).blocks] == ["Text."]

    def test_broken_empty_encrypted_or_something_else(self, tmp_path, kind):
        good, part = office(tmp_path, kind)
        data = good.read_bytes()
        assert "is empty" in reason(write(tmp_path / f"a.{kind}", b""))
        assert "is broken" in reason(write(tmp_path / f"b.{kind}", data[: len(data) // 2]))
        assert "is broken" in reason(write(tmp_path / f"c.{kind}", b"text"))
        assert "password" in reason(write(tmp_path / f"d.{kind}", b"\xd0\xcf\x11\xe0" + data))
        assert "is broken" in reason(repacked(good, tmp_path / f"e.{kind}", {part: b"<open>"}))

    def test_without_text(self, tmp_path, kind):
        path = tmp_path / f"a.{kind}"
        new = {"docx": docx.Document, "pptx": pptx.Presentation, "xlsx": openpyxl.Workbook}[kind]
        new().save(path)
        assert "has no text" in reason(path)


def test_a_real_bomb(tmp_path):
    bomb = tmp_path / "bomb.docx"
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as stream,
    ):
        for _ in range(300):
            stream.write(b" " * 1_000_000)
    assert bomb.stat().st_size < 3_000_000
    assert "zip bomb" in reason(bomb)


def test_a_sheet_with_rows_without_end_is_refused(tmp_path):
    good, part = office(tmp_path, "xlsx")
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    far = b'<row r="999999999999"><c r="A999999999999"><v>1</v></c></row>'
    sheet = XML + b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (space, far)
    assert "more cells" in reason(repacked(good, tmp_path / "far.xlsx", {part: sheet}))


def test_word_keeps_what_was_inserted_and_drops_what_was_deleted(tmp_path):
    good, part = office(tmp_path, "docx")
    space = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = (
        b"<w:p><w:r><w:t>Kept </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        b"<w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"
        b"<w:sdt><w:sdtContent><w:p><w:r><w:t>In a form.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    text = XML + b'<w:document xmlns:w="%s"><w:body>%s</w:body></w:document>' % (space, body)
    path = repacked(good, tmp_path / "a.docx", {part: text})
    assert [block.text for block in readers.read(path).blocks] == ["Kept new", "In a form."]


class TestText:
    def test_a_gigabyte_is_refused_at_once(self, tmp_path):
        path = write(tmp_path / "big.txt", "It begins like text.\n" * 1000)
        with path.open("r+b") as file:
            file.truncate(1_000_000_000)
        assert "is too large: 1 GB, and at most 200 MB" in reason(path)

    def test_memory_does_not_grow_with_the_file(self, tmp_path):
        script = (
            "import resource; from pathlib import Path\n"
            "from deepnb.knowledge.readers import read\n"
            "from deepnb.chunks import chunks\n"
            "for name in ('small.txt', 'lines.txt', 'line.txt'):\n"
            "    print(sum(1 for _ in chunks(read(Path(name)).blocks)))\n"
            "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        write(tmp_path / "small.txt", "A sentence of some length on its line.\n" * 5_000)
        write(tmp_path / "lines.txt", "A sentence of some length on its line.\n" * 50_000)
        write(tmp_path / "line.txt", "A sentence of some length on its line. " * 50_000)
        shown = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=True
        ).stdout.split()
        small, before, lines, after_lines, line, after_line = map(int, shown)
        assert lines > 9 * small
        assert line > 9 * small
        assert after_lines - before < 1500  # KB, and the file has 1950
        assert after_line - before < 1500

    @pytest.mark.parametrize(
        "content", [b"\x89PNG\r\n\x1a\n" + b"x" * 99, b"MZ\x90\0\x03\0", b"%PDF-1.4", b"PK\x03\x04"]
    )
    def test_something_else_that_is_called_text(self, tmp_path, content):
        assert "is not text" in reason(write(tmp_path / "a.txt", content))

    @pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.json", "a.html", "a.ipynb"])
    def test_empty(self, tmp_path, name):
        assert reason(write(tmp_path / name, b""))
        assert reason(write(tmp_path / name, b" \n\t\n"))

    def test_deeply_nested(self, tmp_path):
        deep = "[" * 100_000 + "]" * 100_000
        blocks = readers.read(write(tmp_path / "a.json", deep)).blocks
        assert "".join("".join(block.text.split()) for block in blocks) == deep
        assert "is broken" in reason(write(tmp_path / "a.ipynb", deep))
        assert "is broken" in reason(write(tmp_path / "b.ipynb", f'{{"cells": {deep}}}'))
        assert "nested" in reason(write(tmp_path / "a.html", "<div>" * 100_000 + "text"))

    @pytest.mark.parametrize("cells", [None, 1, {}, [1, None, []], [{"source": 1, "outputs": 2}]])
    def test_notebooks_that_are_none(self, tmp_path, cells):
        assert reason(write(tmp_path / "a.ipynb", json.dumps({"cells": cells})))

    @pytest.mark.parametrize(
        "piece", ["<", "<p", "<!--", "&", "<a b=", "</", "<![CDATA[", "<b>x</b>"]
    )
    def test_pages_made_to_take_forever(self, tmp_path, piece):
        path = write(tmp_path / "a.html", "<p>begin</p>" + piece * 100_000)
        try:
            found = [block.text for block in readers.read(path).blocks]
        except UnreadableError:
            return
        assert found[0] == "begin"

    def test_old_formats_are_refused_with_what_to_do(self, tmp_path):
        assert ".docx" in reason(write(tmp_path / "a.doc", b"\xd0\xcf\x11\xe0"))
        assert ".xlsx" in reason(write(tmp_path / "a.ods", b"PK"))


class TestNoFile:
    def test_a_folder(self, tmp_path):
        assert "is a folder" in reason(tmp_path)

    def test_missing(self, tmp_path):
        assert "does not exist" in reason(tmp_path / "a.md")

    def test_a_link_wherever_it_leads(self, tmp_path):
        (tmp_path / "link.txt").symlink_to("/etc/hostname")
        assert "is a link" in reason(tmp_path / "link.txt")

    def test_pipes_sockets_and_devices(self, tmp_path, monkeypatch):
        os.mkfifo(tmp_path / "pipe.txt")
        assert "is a pipe, socket or device" in reason(tmp_path / "pipe.txt")
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("socket.txt")
            assert "is a pipe, socket or device" in reason(tmp_path / "socket.txt")
        assert "is a pipe, socket or device" in reason(Path("/dev/zero"))

    def test_a_name_that_no_file_can_have(self, tmp_path):
        assert "cannot be read" in reason(tmp_path / "a\0b.txt")
