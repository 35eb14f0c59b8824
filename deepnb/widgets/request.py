"""What every request of a page has, and what its fields are made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200_000)]
Seq = Annotated[int, Field(ge=0)]


class Request(BaseModel):
    """What every request has.

    `thread` is the thread that the view shows: what was meant for one is never done to another.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Id
    view: Id
    thread: Name
