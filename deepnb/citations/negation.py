"""The words that turn round what a sentence says, as parts of regular expressions."""

from __future__ import annotations

NOT = (
    r"not|no|never|none|nor|neither|nobody|nothing|nowhere|cannot|\w+n['\u2019]t|hardly|rarely|"
    r"seldom|barely|scarcely|(?:fail|refuse|decline)[sd]? to|failed to"
)
"""What makes of a statement its contrary."""

LACK = r"without|lacks?|lacked|lacking|absence|absent"
"""What says that something is not there."""
