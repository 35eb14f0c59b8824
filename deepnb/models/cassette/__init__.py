"""Conversations with a model, recorded once and replayed anywhere.

A tutorial made with a real model runs again without a key, and a test of an agent needs neither
network nor luck. `record(model, path)` is that model, and writes what is said to a YAML file that
is made to be read and reviewed; `replay(path)` answers from it.

What was asked is found again by its content, never by its order, so parallel subagents may race.
A request that was asked several times gets its replies in recorded order, and then the last one
again. Recording into an existing file adds to it; a request that is asked anew has its earlier
replies replaced, since the conversation goes on from the new one.
"""

from __future__ import annotations

from deepnb.models.cassette.models import RecordingModel, ReplayModel, record, replay

__all__ = ["RecordingModel", "ReplayModel", "record", "replay"]
