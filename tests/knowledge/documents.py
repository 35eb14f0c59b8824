"""Makes the documents that the tests read: real files, good and bad."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path


def pdf(path: Path, pages: list[list[str] | bytes], *, title="", password="", bookmarks=()) -> Path:
    """Write a PDF whose pages are lines of text, or bytes of page content.

    Args:
        path: Where.
        pages: What is on each page.
        title: What its properties call it.
        password: What it can be opened with; it is then encrypted (40-bit RC4).
        bookmarks: Titles with the number of their page, from 1.
    """
    key, encrypt = _encryption(password) if password else (b"", b"")
    first = 6 + len(bookmarks) if bookmarks else 5  # the number of the first page's object
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(len(pages)))
    outlines = b" /Outlines 5 0 R" if bookmarks else b""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R" + outlines + b" >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (" + title.encode("latin-1") + b") >>",
    ]
    if bookmarks:
        last = 5 + len(bookmarks)
        objects.append(f"<< /First 6 0 R /Last {last} 0 R /Count {len(bookmarks)} >>".encode())
        for n, (name, page) in enumerate(bookmarks):
            following = f" /Next {7 + n} 0 R" if n + 1 < len(bookmarks) else ""
            target = f"/Dest [{first + 2 * (page - 1)} 0 R /Fit]"
            objects.append(f"<< /Title ({name}) /Parent 5 0 R {target}{following} >>".encode())
    for n, page in enumerate(pages):
        content = page if isinstance(page, bytes) else _text(page)
        if key:
            content = _rc4(_object_key(key, first + 2 * n + 1), content)
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (first + 2 * n + 1),
            b"<< /Length %d >>\nstream\n" % len(content) + content + b"\nendstream",
        ]
    if encrypt:
        objects.append(encrypt)
    extra = b" /Encrypt %d 0 R /ID [<00><00>]" % len(objects) if encrypt else b""
    path.write_bytes(_assemble(objects, extra))
    return path


SCANNED = b"q 600 0 0 700 0 0 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\xff\xff\x00 EI Q"
"""A page that is a picture."""


def _text(lines: list[str]) -> bytes:
    escaped = [
        line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("cp1252")
        for line in lines
    ]
    shown = b"".join(b"(" + line + b") Tj T*\n" for line in escaped)
    return b"BT /F1 11 Tf 13 TL 60 740 Td\n" + shown + b"ET"


def _assemble(objects: list[bytes], extra: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"/Size %d /Root 1 0 R /Info 4 0 R" % (len(objects) + 1)
    return bytes(out + b"trailer\n<< " + trailer + extra + b" >>\nstartxref\n%d\n%%%%EOF" % start)


_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def _encryption(password: str) -> tuple[bytes, bytes]:
    """The key, and the object that says how to check a password."""
    padded = (password.encode() + _PADDING)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    permissions = struct.pack("<i", -4)
    key = hashlib.md5(padded + owner + permissions + b"\0").digest()[:5]
    user = _rc4(key, _PADDING)
    body = f"<< /Filter /Standard /V 1 /R 2 /O <{owner.hex()}> /U <{user.hex()}> /P -4 >>"
    return key, body.encode()


def _object_key(key: bytes, number: int) -> bytes:
    return hashlib.md5(key + struct.pack("<I", number)[:3] + b"\0\0").digest()[:10]


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


def repacked(source: Path, target: Path, change: dict[str, bytes]) -> Path:
    """Copy an Office file, with other bytes in some of its parts."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in {**dict.fromkeys(old.namelist()), **dict.fromkeys(change)}:
            new.writestr(name, change[name] if name in change else old.read(name))
    return target


def forged(source: Path, target: Path, part: str, size: int) -> Path:
    """Copy an archive whose directory lies about the size of a part when it is unpacked."""
    data = bytearray(source.read_bytes())
    with zipfile.ZipFile(source) as archive:
        offset = archive.getinfo(part).header_offset
        directory = archive.start_dir
    name = part.encode()
    entry = data.index(name, directory) - 46
    data[entry + 24 : entry + 28] = struct.pack("<I", size)
    data[offset + 22 : offset + 26] = struct.pack("<I", size)
    target.write_bytes(data)
    return target
