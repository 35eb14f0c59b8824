"""What happened, in a line that a person reads.

What is in an event was written by models, files and foreign graphs. So nothing here raises, and a
line is one plain line whatever it is made of.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deepnb.events import Event

Data = Mapping[str, Any]

_LARGEST = 2**63 - 1


def number_of(value: Any) -> float:
    """Give a number, or nan for what is none."""
    if type(value) is not float:  # one of numpy's will do as well, a bool will not
        if isinstance(value, bool) or not isinstance(value, Real):
            return math.nan
        try:
            value = float(value)
        except OverflowError:  # an integer of more than 300 digits
            return math.nan
    return value if math.isfinite(value) else math.nan


def integer_of(value: Any) -> int | None:
    """Give a whole number that fits into 64 bits, or None."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        value = int(value)  # of numpy's, perhaps
    else:
        whole = number_of(value)
        if not whole.is_integer():
            return None
        value = int(whole)
    return value if -_LARGEST <= value <= _LARGEST else None


def text_of(value: Any) -> str:
    """Give a text, whatever it is made of."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else str(value)
    except Exception:  # noqa: BLE001  # of too many digits or levels, or of a class of somebody else's
        return f"({type(value).__name__})"


def mapping_of(value: Any) -> Data:
    """Give a mapping, empty for what is none."""
    return value if isinstance(value, dict) else {}


def mappings_of(value: Any) -> list[Data]:
    """Give the mappings in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_LONGEST = 120  # characters of a line
_LONGEST_ARGUMENT = 60
_LOOKED_AT = 250  # characters of a text; what is behind them would not be seen
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_JOINERS = "\u200c\u200d"  # unseen, but Persian words and some emoji fall apart without them
_SAYS_WHAT = (
    "subagent_type", "pattern", "query", "question", "file_path", "file_id", "path", "url",
    "command", "description",
)  # fmt: skip
"""Arguments that tell what a call is about, in the order in which they read well."""

_DECIDED = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "answered"}
_OUTCOMES = {
    "result": "carried out",
    "error": "failed",
    "response": "answered",
    "selected": "answered",
    "raise_to": "limit raised",
    "token": "paid",
    "stop": "stopped",
}


def summary_of(event: Event) -> str:
    """Say in a line what happened."""
    if type(event.data) is not dict:
        event = event._replace(data={})
    return _line(_SUMMARIES.get(event.kind, _said)(event))


def _said(event: Event, instead: str = "") -> str:
    return text_of(event.data.get("text")).lstrip()[:_LOOKED_AT] or instead


def _line(value: Any, longest: int = _LONGEST) -> str:
    """Make a text one plain line, with nothing in it that steers what shows it."""
    text = text_of(value)
    if len(text) <= longest and text.isprintable():
        return text
    text = " ".join(text.lstrip()[:_LOOKED_AT].split())
    if not text.isprintable():
        text = "".join(
            "\ufffd" if unicodedata.category(c) in _UNSEEN and c not in _JOINERS else c
            for c in text
        )
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def _amount(value: Any) -> str:
    if (whole := integer_of(value)) is not None:
        return f"{whole:,}"
    number = number_of(value)
    return "?" if math.isnan(number) else f"{number:,.4f}".rstrip("0").rstrip(".")


def _span(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{seconds:.1f} s"


def _ended(event: Event) -> str:
    status, seconds = text_of(event.data.get("status")), number_of(event.data.get("seconds"))
    word, joint = (status, "after") if status not in {"", "ok", "done"} else ("done", "in")
    what = f"{word} {joint} {_span(seconds)}" if seconds >= 0 else word
    return f"{what}: {why}" if (why := _said(event)) else what


def _call(name: Any, args: Any) -> str:
    """Say what a call does, by the arguments that tell."""
    given = mapping_of(args)
    said = [_line(given[key], _LONGEST_ARGUMENT) for key in _SAYS_WHAT if given.get(key)]
    if not said:
        said = [
            f"{_line(key)}={f'{len(value)} items' if isinstance(value, list) else _line(value, 30)}"
            for key, value in given.items()
        ]
    return " ".join([_line(name, _LONGEST_ARGUMENT), *said])


def question_of(request: Any) -> tuple[str, str, str]:
    """Read type, tool and question from a request, be it ours, langchain's or a foreign graph's."""
    asked = mapping_of(request)
    actions = mappings_of(asked.get("action_requests"))
    kind = _line(asked.get("type")) or ("tool_approval" if actions else "question")
    tool = _line(asked.get("tool"))
    if actions:
        tool = _line(", ".join(dict.fromkeys(text_of(action.get("name")) for action in actions)))
        calls = (_call(action.get("name"), action.get("args")) for action in actions)
        text = f"Approve {', '.join(calls)}?"
    elif kind == "client_tool_execution":
        text = f"Run {_call(tool, asked.get('args'))} where the files are"
    elif kind == "plan_approval":
        steps = len(mappings_of(mapping_of(asked.get("plan")).get("steps")))
        text = f"Approve a plan with {steps} step{'' if steps == 1 else 's'}?"
    elif kind == "budget_exhausted":
        spent = f"{_amount(asked.get('spent'))} of {_amount(asked.get('limit'))}"
        text = f"{spent} {_line(asked.get('unit'))} are spent. Raise the limit?"
    elif kind == "payment_exhausted":
        price, left = (_amount(asked.get(key)) for key in ("price", "balance"))
        text = f"A call costs {price} sat, with {left} left. Pay in a token?"
    else:
        said = (asked.get(key) for key in ("question", "message", "text", "description"))
        text = text_of(next(filter(None, said), request))
    return kind, tool, _line(text)


def _closed(event: Event) -> str:
    """Say how a question was answered; what is not known to be harmless is not quoted."""
    given, by = event.data.get("answer"), text_of(event.data.get("by"))
    answer = mapping_of(given)
    key = next((key for key in _OUTCOMES if key in answer), "")
    what = _OUTCOMES.get(key, "closed" if given is None else "answered")
    words = answer[key] if key in {"error", "response", "selected", "raise_to"} else ""
    if decisions := mappings_of(answer.get("decisions")):
        counts = Counter(_DECIDED.get(text_of(each.get("type")), "answered") for each in decisions)
        what = ", ".join(f"{n} {w}" if len(decisions) > 1 else w for w, n in counts.items())
        words = next((each["message"] for each in decisions if each.get("message")), "")
    if "approved" in answer:
        edited = " with changes" if answer.get("plan") else ""
        what = f"approved{edited}" if answer["approved"] is True else "rejected"
        words = answer.get("reason")
    if isinstance(words, list):
        words = ", ".join(map(text_of, words))
    return f"{what}{f' by {by}' if by else ''}{f': {text_of(words)}' if words else ''}"


def _file(event: Event) -> str:
    get = event.data.get
    what = f"{text_of(get('action')) or 'changed'} {text_of(get('path') or event.name)}"
    # Behind the first "@@" a line that begins with a sign is a change, and no heading.
    _, _, changes = f"\n{text_of(get('diff'))}".partition("\n@@")
    plus, minus, more = changes.count("\n+"), changes.count("\n-"), "\n…" in changes
    return f"{what} (+{plus} −{minus}{' and more' if more else ''})" if changes else what  # noqa: RUF001  # a minus is as wide as a plus


def _planned(event: Event) -> str:
    statuses = [todo.get("status") for todo in mappings_of(event.data.get("todos"))]
    edited = ", edited by person" if event.data.get("by") == "person" else ""
    return f"{statuses.count('completed')} of {len(statuses)} done{edited}"


def _used(event: Event) -> str:
    tokens_in, tokens_out = event.data.get("tokens_in"), event.data.get("tokens_out")
    return f"{_amount(tokens_in)} in, {_amount(tokens_out)} out"


def _returned(event: Event) -> str:
    first, _, _ = _said(event, "(no text)").partition("\n")
    return f"error: {first}" if event.data.get("status") == "error" else first


def _passed(event: Event) -> str:
    error = event.data.get("error")
    return f"failed: {text_of(error)}" if error else _said(event) or _ended(event)


def _read(event: Event) -> str:
    passages = len(mappings_of(event.data.get("passages")))
    title = text_of(event.data.get("title") or event.data.get("location"))
    return f"{title} ({passages} passage{'' if passages == 1 else 's'})"


def _checked(event: Event) -> str:
    counts = mapping_of(event.data.get("counts"))
    return ", ".join(f"{_amount(n)} {_line(verdict)}" for verdict, n in counts.items() if n)


def _settled(event: Event) -> str:
    note = text_of(event.data.get("note"))
    done = "checked by person" if event.data.get("checked", True) else "taken back by person"
    return f"{_line(event.data.get('citation'))} {done}{f': {note}' if note else ''}"


def _disclosed(event: Event) -> str:
    paths = event.data.get("paths")
    first = text_of(paths[0]) if isinstance(paths, list) and paths else ""
    others = (integer_of(event.data.get("files")) or 0) - 1
    more = f" and {others} more" if first and others > 0 else ""
    detail = text_of(event.data.get("detail")) or f"{_amount(event.data.get('bytes'))} bytes"
    return f"left the browser: {detail}{f' of {first}{more}' if first else ''}"


def _paid(event: Event) -> str:
    amount, fee = (_amount(event.data.get(key)) for key in ("amount", "fee"))
    if event.data.get("what") == "deposit":
        return f"paid in {amount} sat, {fee} of them for the mint"
    return f"gave back {amount} sat, kept {_amount(event.data.get('kept'))}, {fee} for the mint"


_SUMMARIES: dict[str, Callable[[Event], str]] = {
    "queued": lambda e: f"{'for the next step' if e.data.get('steer') else 'asked'}: {_said(e)}",
    "run_started": lambda e: f"{'resumed: ' if e.data.get('resumed') else ''}{_said(e)}",
    "message": lambda e: f"{text_of(e.data.get('role'))}: {_said(e, '(no text)')}",
    "tool_call": lambda e: _call(e.name, e.data.get("args")),
    "tool_result": _returned,
    "node": _passed,
    "todos": _planned,
    "file": _file,
    "source": _read,
    "report": _checked,
    "settled": _settled,
    "disclosed": _disclosed,
    "payment": _paid,
    "subagent_ended": _ended,
    "interrupt_opened": lambda e: question_of(e.data.get("request"))[2],
    "interrupt_closed": _closed,
    "usage": _used,
    "error": lambda e: f"{text_of(e.data.get('type')) or 'error'}: {_said(e)}",
    "run_ended": _ended,
}
"""By kind; what the others have to say is their text."""
