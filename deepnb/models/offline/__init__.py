"""What answers when no language model is configured.

A newcomer meets this first, so it has to be of use and must not pretend. It looks into the files
it can reach with the tools it is given, answers in verbatim quotes with path and line, asks when
a request is too vague, and says "not found in your files" when it is not there.

    model.py       the chat model: messages in, one message out
    turn.py        what was asked, which tools there are, what they have answered
    request.py     what kind of request it is
    moves.py       what to do about it
    clarify.py     asking back when it is too vague
    reach.py       which files there are
    search.py      tools, the knowledge base first → passages
    rank.py        passages → those that answer
    results.py     what the tools' texts mean
    passages.py    files → paragraphs, list items, table rows
    vocabulary.py  words that mean nearly the same, and words that only ask
    answer.py      passages → Markdown
    save.py        Markdown → a file
"""

from __future__ import annotations

from deepnb.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
