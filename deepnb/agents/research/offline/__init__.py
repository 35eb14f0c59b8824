"""The research graph's thinker and synthesizer when no language model is configured.

It plans by rule and reports in verbatim quotes; it never says anything of its own.

    plan.py        a question, and what the documents are called → steps
    naming.py      which documents a text means
    objections.py  why a plan was refused → another plan
    reasons.py     what such a reason wants
    steps.py       what a step is made of
    sentences.py   passages → sentences, table rows and lines of code, each exactly as it was read
    choose.py      those that say most about a question
    excerpts.py    these in their context, each once, as quotes with their marks
    openings.py    how the documents begin, where it is they that are asked about
    clashes.py     where they may disagree, if that is asked
    report.py      Markdown: the best quotes, the quotes of each step, and what is missing
"""

from __future__ import annotations

from deepnb.agents.research.offline.plan import plan
from deepnb.agents.research.offline.report import Written, failures, write

__all__ = ["Written", "failures", "plan", "write"]
