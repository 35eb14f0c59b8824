"""Models that run on this machine, out of one GGUF file.

llama.cpp does the work, through `xllamacpp`. This room adds what an agent needs from it: tool calls
that hold for models whose template knows no tools, errors that say what to do, and weights that
are loaded once however many agents use them.
"""

from __future__ import annotations

from deepnb.models.local.model import LocalModel

__all__ = ["LocalModel"]
