"""The labels that a report gives to its own parts: "Step 3: …", "… (see section 4)".

Their numbers are none of the claim. But where a source counts steps or sections itself, such a
number may be the source's, and changed: there it stays part of the claim.
"""

from __future__ import annotations

import re

_NOUN = r"(step|section|chapter|part|point|item|figure|table|appendix|question|finding|reason)"
_NUMBER = r"\d{1,3}(?:\.\d{1,3})*"
_LABEL = re.compile(
    rf"(?i)\A\W*{_NOUN}\s{_NUMBER}\s?[:)\u2013\u2014]\s"
    rf"|\s?\((?:see|cf\.|compare)\s(?:also\s)?{_NOUN}\s{_NUMBER}(?:\s(?:above|below))?\)"
)
_COUNTED = re.compile(rf"(?i)\b{_NOUN}s?\s\W?\d")


def counted(text: str) -> frozenset[str]:
    """What a text has numbers of: its steps, its sections."""
    return frozenset(match[1].lower() for match in _COUNTED.finditer(text))


def without_labels(text: str, counts: frozenset[str]) -> str:
    """Take the labels out of a claim, but for what a source counts."""
    return _LABEL.sub(lambda m: m[0] if (m[1] or m[2]).lower() in counts else "", text)
