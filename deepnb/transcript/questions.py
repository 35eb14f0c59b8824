"""What a person is asked, what they can answer, and what they have answered, in words.

Requests and answers are read as `deepnb.interrupts` describes them, and by what is in them: those
of a graph that is not deepnb's may be anything.
"""

from __future__ import annotations

import json
from typing import Any

from deepnb.transcript.legible import one_line

_BY = {
    "person": "",
    "policy": " automatically",
    "grant": " by an earlier permission",
}
_DECISIONS = {"approve": "approved", "reject": "rejected", "edit": "edited", "respond": "answered"}
_WORDS = {
    "token": "paid",  # it is money, and not shown
    "stop": "stopped",
    "raise_to": "raised to {}",
    "error": "failed: {}",
}
_ANSWERS: dict[str, dict[str, Any]] = {
    "clarification_request": {"response": "…"},
    "plan_approval": {"approved": True},
    "payment_exhausted": {"token": "…"},
}
_ON_FILES = {
    "list_files": "List {where}",
    "read_file": "Read {where}",
    "write_file": "Write {where}",
    "patch_file": "Change {where}",
    "glob_files": "Look in {where} for names like “{pattern}”",
    "grep_files": "Look in {where} for lines with “{pattern}”",
    "search_files": "Search {where} for “{query}”",
}
BROWSER_ANSWERS = (
    "There is nothing to type: the browser that has the files answers by itself, as soon as the "
    "panel is open in it."
)
"""What to do about a question `is_for_browser`."""
_NAMES_OBJECT = ("pattern", "query", "file_path", "path", "file_id", "url", "command", "question")


def about(args: dict[str, Any]) -> str:
    """The argument that says what a call is about, on one line."""
    for name in _NAMES_OBJECT:
        if isinstance(value := args.get(name), str) and value:
            return one_line(value)
    return one_line(next((v for v in args.values() if isinstance(v, str) and v), ""))


def is_for_browser(request: Any) -> bool:
    """Whether it is a call of a tool on the reader's files, which their browser runs."""
    return (
        isinstance(request, dict)
        and request.get("type") == "client_tool_execution"
        and isinstance(request.get("tool"), str)
    )


def actions(request: Any) -> list[dict[str, Any]]:
    """The tool calls that an approval is about; none if it is another kind of question."""
    found = request.get("action_requests") if isinstance(request, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def options(request: Any) -> list[tuple[str, str]]:
    """The choices that a question offers: id and label."""
    found = request.get("options") if isinstance(request, dict) else None
    return [
        (str(item.get("id", "")), str(item.get("label", "")))
        for item in (found if isinstance(found, list) else [])
        if isinstance(item, dict)
    ]


def plan_steps(plan: Any) -> list[tuple[str, str]]:
    """The steps of a plan: what each is for, and what it does; none if it is no plan."""
    found = plan.get("steps") if isinstance(plan, dict) else None
    return [
        (str(item.get("title", "")), f"{item.get('tool', '')} {item.get('input', '')}".strip())
        for item in (found if isinstance(found, list) else [])
        if isinstance(item, dict)
    ]


def asked(request: Any) -> str:
    """What is asked, on one line."""
    if calls := actions(request):
        names = [f"{c.get('name', '')} {about(args_of(c))}".strip() for c in calls]
        return one_line(f"Approve {', '.join(names)}?")
    if is_for_browser(request):
        return one_line(_asked_of_files(request))
    if not isinstance(request, dict):
        return one_line(as_text(request))
    if request.get("question"):
        return one_line(request["question"])
    return one_line(_asked_without_words(request))


def _asked_of_files(request: dict[str, Any]) -> str:
    args = args_of(request)
    words = _ON_FILES.get(request["tool"])
    if words is None:
        return f"Run {request['tool']} {about(args)} on your files".replace("  ", " ")
    path = as_text(args.get("path", "")).strip("/")
    where = f"“{path}” in your files" if path else "your files"
    pattern, query = (as_text(args.get(key, "")) for key in ("pattern", "query"))
    return words.format(where=where, pattern=pattern, query=query)


def _asked_without_words(request: dict[str, Any]) -> str:
    if request.get("tool"):
        return f"Run {request['tool']} {about(args_of(request))}".strip()
    if steps := plan_steps(request.get("plan")):
        return f"Approve the plan: {'; '.join(title for title, _ in steps)}?"
    if request.get("type") == "budget_exhausted":
        spent, limit, unit = (request.get(key, "?") for key in ("spent", "limit", "unit"))
        return f"The budget is used up: {spent} of {limit} {unit}. Raise it, or stop?"
    if request.get("type") == "payment_exhausted":
        price, balance = (request.get(key, "?") for key in ("price", "balance"))
        return f"A model call costs {price} sat, with {balance} left. Pay in a token, or stop?"
    return str(request.get("type") or as_json(request)).replace("_", " ")


def decided(request: Any, answer: Any, by: str) -> str:
    """What was decided, and by whom if not by the person."""
    if by == "stop":
        return "not answered: the run ended"
    if is_for_browser(request):  # what was in the files is not in the log
        has_failed = isinstance(answer, dict) and "error" in answer
        return "not available" if has_failed else "answered"
    return f"{_said(request, answer)}{_BY.get(by, f' by {by}')}"


def _said(request: Any, answer: Any) -> str:
    if not isinstance(answer, dict):
        return as_text(answer)
    if isinstance(answer.get("decisions"), list):
        return ", ".join(map(_decision, answer["decisions"]))
    if isinstance(answer.get("selected"), list):
        return _selection(request, answer)
    if "approved" in answer:
        said = _decision({**answer, "type": "approve" if answer["approved"] else "reject"})
        return f"{said} with changes" if answer.get("plan") else said
    for key, words in _WORDS.items():
        if answer.get(key):
            return words.format(as_text(answer[key]))
    return as_text(answer.get("response", answer.get("result", answer)))


def _selection(request: Any, answer: dict[str, Any]) -> str:
    labels = dict(options(request))
    chosen = ", ".join(labels.get(str(one), str(one)) for one in answer["selected"])
    return "; ".join(filter(None, [chosen, str(answer.get("freeform") or "")]))


def _decision(decision: Any) -> str:
    if not isinstance(decision, dict):
        return as_text(decision)
    kind, reason = decision.get("type"), decision.get("message") or decision.get("reason")
    word = _DECISIONS.get(str(kind), str(kind))
    return f"{word}: {as_text(reason)}" if reason else word


def python(question: str, request: Any) -> str:
    """The Python that answers a question: the least that is a valid answer."""
    kind = request.get("type") if isinstance(request, dict) else None
    answer: Any = _ANSWERS.get(str(kind), "…")
    if calls := actions(request):
        answer = {"decisions": _least_decisions(request, len(calls))}
    elif choices := options(request):
        answer = {"selected": [choices[0][0]]}
    elif kind == "budget_exhausted" and isinstance(limit := request.get("limit"), int | float):
        answer = {"raise_to": limit * 2}
    return f"session.respond({_literal(question)}, {_literal(answer)})"


def _least_decisions(request: Any, count: int) -> list[dict[str, str]]:
    """Approve where that is allowed, else whatever is."""
    found = request.get("review_configs")
    decisions = []
    for review in [*(found if isinstance(found, list) else []), *[None] * count][:count]:
        allowed = review.get("allowed_decisions") if isinstance(review, dict) else None
        words = allowed if isinstance(allowed, list) else ["approve"]
        word = next((w for w in ("approve", "reject") if w in words), "respond")
        decisions.append({"type": word} | ({"message": "…"} if word == "respond" else {}))
    return decisions


def args_of(call: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call; none if they are not what arguments are."""
    args = call.get("args")
    return args if isinstance(args, dict) else {}


def as_json(value: Any, indent: int | None = None) -> str:
    """A JSON value as text."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)


def as_text(value: Any) -> str:
    """A JSON value as text; a text is itself."""
    return value if isinstance(value, str) else as_json(value)


def _literal(value: Any) -> str:
    """A value as Python with double quotes, as people write it."""
    if isinstance(value, bool):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
