"""A session's events as something to read.

Events say everything, in the order in which it happened; a reader wants questions and answers, and
between them as much of the rest as they care to open. This room makes turns of events, and of
turns Markdown, a page, a notebook and the cards that a notebook shows. What is in them was written
by models, by tools and by whoever wrote the files that those read: it is shown, and never obeyed.
"""

from __future__ import annotations

from deepnb.transcript.cards import run_card, session_card
from deepnb.transcript.export import write
from deepnb.transcript.html import to_fragment, to_html
from deepnb.transcript.markdown import to_markdown
from deepnb.transcript.notebook import to_notebook
from deepnb.transcript.reader import latest, turns
from deepnb.transcript.steps import Turn

__all__ = [
    "Turn",
    "latest",
    "run_card",
    "session_card",
    "to_fragment",
    "to_html",
    "to_markdown",
    "to_notebook",
    "turns",
    "write",
]
