"""What is not fit to be looked at: the same here and in the panel (its tests/legible.test.ts)."""

from __future__ import annotations

import json
from pathlib import Path

from deepnb.transcript.legible import legible

RANGES = json.loads(Path(__file__).with_name("unfit.json").read_text())
UNFIT = {code for first, last in RANGES for code in range(int(first, 16), int(last, 16) + 1)}


def test_what_cannot_be_seen_or_steers_the_eye_is_spelled_out_and_nothing_else():
    shown = {code: legible(chr(code)) for code in range(0x110000)}
    expected = {code: f"\\u{code:04x}" if code in UNFIT else chr(code) for code in shown}
    expected[0x0D] = "\n"
    assert [code for code in shown if shown[code] != expected[code]] == []


def test_joiners_stay_where_scripts_and_pictures_need_them_and_lines_end_in_one_way():
    for text in ("می\u200cشود", "👩\u200d💻"):
        assert legible(text) == text
    assert legible("a\u200cb\u200dc") == "a\\u200cb\\u200dc"
    assert legible("a\r\nb\rc\td") == "a\nb\nc\td"
