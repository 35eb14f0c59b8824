"""A small MCP server, started as a process of its own by the tests."""

from __future__ import annotations

import os
import sys

# A check of addresses that takes seconds to import; without it, those are not checked.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

from mcp.server.fastmcp import FastMCP  # noqa: E402

server = FastMCP("lake", port=int(os.environ.get("PORT", "0")) or 8000, log_level="ERROR")
calls: list[str] = []


@server.tool()
def depth(lake: str) -> str:
    """How deep a lake is."""
    calls.append(lake)
    return f"{lake} is 25 m deep (question {len(calls)})."


@server.tool()
def compare(first: str, second: str, unit: str = "m") -> str:
    """Which of two lakes is deeper."""
    return f"{first} is 5 {unit} deeper than {second}."


@server.tool()
def refuse(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool()
def die() -> str:
    """End the server while it is asked."""
    sys.stderr.write("out of water, api_key=sk-1234567890abcdef1234567890abcdef\n")
    sys.stderr.flush()
    os._exit(3)


@server.tool()
def process() -> int:
    """The id of this process."""
    return os.getpid()


if __name__ == "__main__":
    server.run("streamable-http" if "PORT" in os.environ else "stdio")
