"""Texts and sources that the tests of citations share."""

from __future__ import annotations

import re
from pathlib import Path

from deepnb import samples
from deepnb.citations.registry import register

OTHER = """
The bridge over the Ketter was rebuilt in 1987 with twenty-two beams of local oak. "It will stand
for a hundred years," the carpenter's daughter wrote in her diary, "and then some." Lithium-sulfur
cells lose about 0.08% of their capacity per cycle; at 10² cycles that is not yet visible, at
1,000 it is. The first office was a flat of 38.5 m² on the fifth floor, difficult to find and cold
in winter. Fifteen people worked there until the company - by then well-known - moved to a former
factory. Early flights took 3 h 40 min; later ones took 2 h 55 min. The fluffy, off-white
precipitate (yield: 71.4%) was filtered, washed with 50 mL of ethanol and dried at -20 °C for 12
h. No effect of the first treatment was found, whereas the second reduced inflammation by 17-23%
in all but one of the affected animals.
"""


def passages() -> list[str]:
    """Paragraphs of the sample documents, and a few with what they lack."""
    found = [OTHER]
    for path in sorted(Path(samples.__file__).with_name("lake").iterdir()):
        if path.suffix in {".md", ".txt", ".rst"}:
            found += re.split(r"\n\s*\n", path.read_text("utf-8"))
    return [text for text in found if text.strip()]


def reading(location, *texts, kind="file", title=""):
    found = [{"text": text, "place": f"p. {n}"} for n, text in enumerate(texts, 1)]
    return {
        "kind": kind,
        "title": title or location,
        "location": location,
        "passages": found,
    }


REPORT = (
    "Lake Ansel covers 41 hectares. Its mean depth is 4.2 m.",
    "An aeration pump of 2.2 kW began to work on 14 June 2021.",
    "Total phosphorus fell from 84 µg/l in 2019 to 52 µg/l in 2023. That is a reduction of 38 %.",
)
PRESS = ("Phosphorus in Lake Ansel has fallen by 62 %, the town of Ansel announced today.",)
WARDEN = ("But if you ask me, the mud was never the main thing. It is the fields.",)


def sources():
    """S1 the report, S2 the press release, S3 the warden."""
    return register(
        {},
        [
            reading("report.md", *REPORT),
            reading("https://ansel.example/press", *PRESS, kind="page", title="Lake Ansel is back"),
            reading("warden.txt", *WARDEN),
        ],
        1_700_000_000.0,
    )
