"""Questions of a run, put to whoever sits at the terminal."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from deepnb.transcript.legible import legible, one_line
from deepnb.transcript.questions import BROWSER_ANSWERS, as_json, asked, plan_steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deepnb.cli.terminal import Terminal
    from deepnb.session.questions import Question

_DECISIONS = {
    "y": ("approve", "[y]es"),
    "n": ("reject", "[n]o"),
    "e": ("edit", "[e]dit"),
    "r": ("respond", "[r]eply in its place"),
    "a": ("approve", "[a]lways"),
}


def put(question: Question, terminal: Terminal) -> Any:
    """Ask, and give the answer in the form that the question needs.

    Raises:
        EOFError: They would rather not answer now.
    """
    request = question.request
    who = one_line(question.agent or "The agent")
    if ask := _ASKED_BY_TYPE.get(question.type):
        return ask(request, who, terminal)
    terminal.show("", terminal.paint.bold(f"? {who} asks"))
    if question.type == "clarification_request":
        terminal.show(terminal.paint.markdown(request["question"]))
        is_choice = request["tool"] == "ask_choices"
        return _choice(request, terminal) if is_choice else {"response": terminal.words()}
    # A graph that is not deepnb's may ask in any form, and take anything.
    terminal.show(legible(request if isinstance(request, str) else as_json(request, indent=2)))
    words = terminal.words("Your answer, as text or JSON")
    try:
        return json.loads(words)
    except ValueError:
        return words


def _approval(request: Mapping[str, Any], who: str, terminal: Terminal) -> dict[str, Any]:
    """Decide about each action by itself."""
    actions, reviews = request["action_requests"], request["review_configs"]
    decisions = []
    for number, (action, review) in enumerate(zip(actions, reviews, strict=True), start=1):
        count = f" ({number} of {len(actions)})" if len(actions) > 1 else ""
        title = f"? {who} asks for your approval: {one_line(action['name'])}{count}"
        terminal.show("", terminal.paint.bold(title))
        terminal.show(terminal.paint.changes(_description(action)), "")
        decisions.append(_decision(action, review, terminal))
    return {"decisions": decisions}


def _description(action: Mapping[str, Any]) -> str:
    return str(action.get("description") or as_json(action["args"], indent=2))


def _decision(
    action: Mapping[str, Any], review: Mapping[str, Any], terminal: Terminal
) -> dict[str, Any]:
    allowed = review["allowed_decisions"]
    offered = {key: word for key, (type_, word) in _DECISIONS.items() if type_ in allowed}
    if "always" not in review:
        offered.pop("a", None)
    key = terminal.choose(offered)
    decision: dict[str, Any] = {"type": _DECISIONS[key][0]}
    if key == "n" and (reason := terminal.read("Why? The agent reads it (Enter: no reason)")):
        decision["message"] = reason
    elif key == "r":
        decision["message"] = terminal.words()
    elif key == "a":
        decision["always"] = _pattern(review["always"], terminal)
    elif key == "e":
        try:
            args = {name: terminal.instead_of(v, name) for name, v in action["args"].items()}
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            terminal.show(f"The editor failed: {legible(str(error))}. Set EDITOR to one you have.")
            return _decision(action, review, terminal)
        decision["edited_action"] = {"name": action["name"], "args": args}
    return decision


def _pattern(target: str, terminal: Terminal) -> str:
    """Ask what need not be asked about again: a folder, or any call of a tool without files."""
    if target == "*":
        return target
    folder = f"{target.rpartition('/')[0]}/*"
    return str(terminal.instead_of(target, f"For which files in this thread, such as {folder}?"))


def _choice(request: Mapping[str, Any], terminal: Terminal) -> dict[str, Any]:
    options = request["options"]
    for number, option in enumerate(options, start=1):
        terminal.show(f"  {number}  {legible(option['label'])}")
    prompt = "Numbers, such as 1, 2" if request["allow_multiple"] else "A number"
    prompt += ", or your own words" if request["allow_freeform"] else ""
    while True:
        words = terminal.words(prompt)
        numbers = words.replace(",", " ").split()
        if all(number.isdecimal() and 0 < int(number) <= len(options) for number in numbers):
            return {"selected": [options[int(number) - 1]["id"] for number in numbers]}
        if request["allow_freeform"]:
            return {"selected": [], "freeform": words}
        terminal.show(f"Choose from 1 to {len(options)}.")


def _plan(request: Mapping[str, Any], who: str, terminal: Terminal) -> dict[str, Any]:
    terminal.show("", terminal.paint.bold(f"? {who} asks for your approval of a plan"))
    for number, (title, what) in enumerate(plan_steps(request["plan"]), start=1):
        terminal.show(
            f"  {number}  {one_line(title)}", terminal.paint.dim(f"     {one_line(what)}")
        )
    audit = request.get("audit")
    if isinstance(audit, dict) and audit.get("summary"):
        terminal.show(f"  {legible(audit['summary'])}")
    if terminal.choose({key: _DECISIONS[key][1] for key in ("y", "n")}) == "y":
        return {"approved": True}
    reason = terminal.read("Why? The agent reads it (Enter: no reason)")
    return {"approved": False, **({"reason": reason} if reason else {})}


def _browser(request: Mapping[str, Any], who: str, terminal: Terminal) -> dict[str, Any]:
    terminal.show("", terminal.paint.bold(f"? {who} waits for the files in your browser"))
    terminal.show(f"  {asked(request)}", terminal.paint.dim(f"  {BROWSER_ANSWERS}"))
    if terminal.choose({"l": "[l]eave it to the browser", "r": "[r]efuse"}) == "l":
        raise EOFError
    return {"error": "The person does not want their files to be used for this."}


def _budget(request: Mapping[str, Any], _who: str, terminal: Terminal) -> dict[str, Any]:
    spent, limit, unit = request["spent"], request["limit"], request["unit"]
    used = f"? The budget is used up: {spent:g} of {limit:g} {unit}"
    terminal.show("", terminal.paint.bold(used))
    while True:
        words = terminal.words(f"Raise it to how many {unit}? Or [s]top")
        if words.lower() in ("s", "stop"):
            return {"stop": True}
        try:
            return {"raise_to": float(words)}
        except ValueError:
            terminal.show("A number, please.")


def _payment(request: Mapping[str, Any], _who: str, terminal: Terminal) -> dict[str, Any]:
    cost = f"? A model call costs {request['price']} sat, and {request['balance']} are left"
    where = "  Pay in a notebook, in the panel or with session.fund(token)."
    terminal.show("", terminal.paint.bold(cost), terminal.paint.dim(where))
    if terminal.choose({"l": "[l]eave it open", "s": "[s]top"}) == "l":
        raise EOFError
    return {"stop": True}


_ASKED_BY_TYPE = {
    "tool_approval": _approval,
    "plan_approval": _plan,
    "budget_exhausted": _budget,
    "payment_exhausted": _payment,
    "client_tool_execution": _browser,
}
