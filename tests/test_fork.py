"""A fork shares the past, goes its own way, and leaves the original alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

import deepnb
from deepnb import Budget
from deepnb.errors import SessionError, ThreadError
from deepnb.testing import call
from tests.sessions import (
    PATIENCE,
    Gate,
    ask,
    check_conversation,
    echo,
    folder_of,
    kinds,
    listed,
    opening,
    subagent,
    task,
    write,
)


@pytest.fixture
def session(tmp_path):
    with opening(tmp_path) as open_session:
        yield open_session


@pytest.fixture
def forking():
    """Give a function that forks; all forks are closed in the end."""
    made = []

    def fork(session, *args, **options):
        made.append(session.fork(*args, **options))
        return made[-1]

    yield fork
    for one in made:
        one.close()


def said(session):
    """Give the conversation that the agent knows."""
    messages = session.state.get("messages", [])
    return [m.text for m in messages if m.type in ("human", "ai") and m.text]


def rows(session):
    """Give everything that is on disk of a thread, but for who has it open."""
    folder = folder_of(session.workspace, session.thread)
    found = {}
    for name in ("record.sqlite", "checkpoints.sqlite"):
        db = sqlite3.connect(f"{(folder / name).as_uri()}?mode=ro", uri=True)
        found[name] = list(db.iterdump())
        db.close()
    return found


def plan(*statuses):
    todos = [{"content": f"part {n}", "status": s} for n, s in enumerate(statuses)]
    return call("write_todos", todos=todos)


def at_work(messages):
    """Plan, write a note and answer, for each question anew; a function of the messages."""
    question = max(n for n, m in enumerate(messages) if m.type == "human")
    done = len([m for m in messages[question:] if m.type == "tool"])
    number = len([m for m in messages if m.type == "human"])
    steps = [
        plan(*["in_progress"] * number),
        [plan(*["completed"] * number), write(f"/scratch/{number}.md", f"note {number}")],
    ]
    return steps[done] if done < len(steps) else f"answer {number} to {messages[question].text}"


# The state of every step


def past_states(session):
    """Read the states of a thread with LangGraph's own means, by step."""
    graph = deepnb.agents.get("deep", model="offline", workspace=session.workspace)
    path = folder_of(session.workspace, session.thread) / "checkpoints.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = graph.copy({"checkpointer": saver})
        config = {"configurable": {"thread_id": session.thread}}
        return {s.metadata["step"]: s for s in graph.get_state_history(config)}


def test_a_fork_at_each_step_has_the_state_of_that_step(session, forking):
    s = session(at_work)
    ask(s, "one")
    ask(s, "two")
    states = past_states(s)
    assert len(states) > 15
    for step, state in states.items():
        fork = forking(s, step)
        assert fork.state == state.values, step
        assert fork.can_resume == bool(state.next), step
        fork.close()


def test_a_fork_at_each_step_shows_what_the_agent_knows(session, forking):
    s = session(at_work, persist=False)
    ask(s, "one")
    ask(s, "two")
    for step in sorted(s.trace.step.dropna().unique()):
        fork = forking(s, int(step))
        todos = [(t["content"], t["status"]) for t in fork.state.get("todos", [])]
        assert list(zip(fork.todos.content, fork.todos.status, strict=True)) == todos, step
        files = set(fork.state.get("files", {}))
        told = {e.name for e in kinds(fork, "file")}
        assert told == files, step
        answers = [text for text in fork.messages.text if text.startswith("answer")]
        assert answers == [text for text in said(fork) if text.startswith("answer")], step
        fork.close()


def test_a_fork_at_each_step_can_be_resumed_to_the_same_end(session, forking):
    s = session(at_work, persist=False)
    ask(s, "one")
    for step in range(-1, s.events()[-1].step + 1):
        fork = forking(s, step)
        if fork.can_resume:
            assert fork.status == "stopped", step
            assert fork.resume().wait(PATIENCE).status == "done", step
        assert said(fork) == list(fork.messages.text) == ["one", "answer 1 to one"], step
        assert set(fork.state["files"]) == {"/scratch/1.md"}, step
        assert s.compare(fork).empty, step
        fork.close()


def test_a_fork_at_each_step_can_be_asked_something_else(session, forking):
    s = session(at_work, persist=False)
    ask(s, "one")
    for step in range(-1, s.events()[-1].step + 1):
        fork = forking(s, step)
        assert ask(fork, "otherwise").status == "done", step
        check_conversation(fork.state["messages"])
        assert said(fork) == list(fork.messages.text), step
        assert said(fork)[-1].endswith("to otherwise"), step
        fork.close()


def test_a_fork_without_a_step_is_of_the_present(session, forking):
    s = session(at_work)
    ask(s, "one")
    fork = forking(s)
    assert (fork.status, fork.can_resume) == ("done", False)
    assert fork.state == s.state
    assert fork.events() == s.events()
    assert ask(fork, "two").answer == "answer 2 to two"


def test_a_fork_goes_on_with_the_numbering(session, forking):
    s = session(at_work)
    ask(s, "one")
    ask(s, "two")
    fork = forking(s, 4)
    past = fork.events()
    ask(fork, "otherwise")
    assert fork.events()[: len(past)] == past
    numbers = [e.seq for e in fork.events()]
    assert numbers == list(range(1, len(numbers) + 1))


# The original


def test_the_original_is_untouched_byte_for_byte(session, forking):
    s = session(at_work)
    ask(s, "one")
    s.flush()
    folder = folder_of(s.workspace)
    files = [path for path in folder.iterdir() if not path.name.endswith("-shm")]
    before = {path.name: path.read_bytes() for path in files}
    shown = s.events(), s.state
    for step in (None, 3, 5):
        fork = forking(s, step)
        ask(fork, "otherwise")
        fork.edit_todos(fork.todos.head(0))
        fork.close()
    files = [path for path in folder.iterdir() if not path.name.endswith("-shm")]
    assert {path.name: path.read_bytes() for path in files} == before
    assert (s.events(), s.state) == shown
    assert ask(s, "two").answer == "answer 2 to two"


def test_the_original_goes_on_without_the_fork_noticing(session, forking):
    s = session(at_work)
    ask(s, "one")
    fork = forking(s)
    before = rows(fork), fork.events()
    ask(s, "two")
    s.close()
    deepnb.forget("main", s.workspace)
    assert (rows(fork), fork.events()) == before
    assert ask(fork, "otherwise").answer == "answer 2 to otherwise"


def test_an_original_and_its_fork_run_at_the_same_time(session, forking):
    gate = Gate()

    def model(messages):
        if messages[-1].text.startswith("wait"):
            gate.wait()
        return echo(messages)

    s = session(model)
    ask(s, "one")
    fork = forking(s)
    runs = s.ask("wait here"), fork.ask("wait there")
    gate.reached.wait(PATIENCE)
    gate.opened.set()
    assert [run.wait(PATIENCE).answer for run in runs] == [
        "answer to wait here",
        "answer to wait there",
    ]
    assert said(s)[-2:] == ["wait here", "answer to wait here"]


# Forks of forks


def test_forks_of_forks(session, forking):
    s = session(at_work)
    ask(s, "one")
    first = forking(s, 4)
    ask(first, "two")
    second = forking(first)
    ask(second, "three")
    third = forking(second, 4)  # a step that all of them share
    assert third.state == forking(s, 4).state
    assert said(second)[-1] == "answer 3 to three"
    assert list(second.messages.text)[:3] == list(first.messages.text)[:3]


def test_forks_of_forks_of_forks_have_names(session, forking):
    s = session(echo)
    ask(s, "one")
    for _ in range(15):
        s = forking(s)
    assert list(s.messages.text) == ["one", "answer to one"]
    assert len(listed(s.workspace)) == 16


# While it waits


def test_a_fork_of_a_waiting_run_is_answered_for_itself(session, forking, tmp_path):
    def model(messages):
        last = messages[-1]
        return f"so {last.status}" if last.type == "tool" else write("/workspace/a.md", "A")

    s = session(model)
    run = ask(s)
    fork = forking(s)
    assert (fork.status, fork.waiting_for) == ("waiting", s.waiting_for)
    assert fork.questions == s.questions
    assert list(fork.pending.id) == list(s.pending.id)
    fork.respond(fork.questions[0].id, "reject")
    assert fork.runs[-1].wait(PATIENCE).answer == "so error"
    assert s.status == "waiting"
    assert not (tmp_path / "a.md").exists()
    s.respond(s.questions[0].id, "approve")
    assert run.wait(PATIENCE).answer == "so success"
    assert (tmp_path / "a.md").read_text() == "A"
    assert fork.runs[-1].answer == "so error"


def test_a_fork_of_two_waiting_subagents_is_answered_for_itself(session, forking, tmp_path):
    def helper(name):
        def model(messages):
            last = messages[-1]
            return last.status if last.type == "tool" else write(f"/workspace/{name}.md", name)

        return subagent(name, model)

    def model(messages):
        results = [m.text for m in messages if m.type == "tool"]
        return " ".join(results) if results else [task("red"), task("blue")]

    s = session(model, subagents=[helper("red"), helper("blue")])
    run = ask(s)
    fork = forking(s)
    assert {q.agent for q in fork.questions} == {"red", "blue"}
    for question in reversed(fork.questions):
        fork.respond(question.id, "approve" if question.agent == "red" else "reject")
    for question in s.questions:
        s.respond(question.id, "reject" if question.agent == "red" else "approve")
    assert fork.runs[-1].wait(PATIENCE).answer == "success error"
    assert run.wait(PATIENCE).answer == "error success"


def test_a_fork_from_before_an_answer_asks_again(session, forking, tmp_path):
    def model(messages):
        last = messages[-1]
        return f"so {last.status}" if last.type == "tool" else write("/workspace/a.md", "A")

    s = session(model)
    run = ask(s)
    s.respond(s.questions[0].id, "reject")
    run.wait(PATIENCE)
    (opened,) = kinds(s, "interrupt_opened")
    fork = forking(s, opened.step)
    assert fork.questions == []
    assert fork.pending.empty
    fork.resume().wait(PATIENCE)
    fork.respond(fork.questions[0].id, "approve")
    assert fork.runs[-1].wait(PATIENCE).answer == "so success"
    assert (tmp_path / "a.md").read_text() == "A"
    assert run.answer == "so error"


def test_a_fork_from_before_a_write_shows_the_file_as_it_is_now(session, forking, tmp_path):
    def model(messages):
        done = len([m for m in messages if m.type == "tool"])
        return write("/workspace/a.md", f"version {done}\n") if done < 2 else "done"

    s = session(model)
    run = ask(s)
    s.respond(s.questions[0].id, "approve")
    run.wait(PATIENCE)
    assert (tmp_path / "a.md").read_text() == "version 0\n"
    assert s.status == "waiting"  # for the second one
    (tmp_path / "a.md").write_text("mine\n")
    fork = forking(s, kinds(s, "interrupt_opened")[0].step)
    again = fork.resume().wait(PATIENCE)
    (action,) = fork.questions[0].request["action_requests"]
    assert "-mine\n+version 0" in action["description"]
    while fork.questions:
        fork.respond(fork.questions[0].id, "approve")
        again.wait(PATIENCE)
    assert again.answer == "done"
    assert [m.status for m in fork.state["messages"] if m.type == "tool"] == ["success"] * 2
    assert (tmp_path / "a.md").read_text() == "version 1\n"


def test_what_is_queued_behind_a_waiting_run_stays_with_the_original(session, forking):
    s = session([write(), "done", "done later"])
    run = ask(s)
    later = s.ask("later")
    fork = forking(s)
    assert [r.question for r in fork.runs] == ["go"]
    s.respond(s.questions[0].id, "reject")
    assert later.wait(PATIENCE).answer == "done later"
    assert run.status == "done"
    assert fork.status == "waiting"


# Failed, stopped, running


def test_a_failed_run_is_resumed_in_the_fork_and_in_the_original(session, forking):
    failing = [True]

    def model(messages):
        if failing:
            raise RuntimeError("the line is down")
        return echo(messages)

    s = session(model)
    run = ask(s)
    fork = forking(s)
    assert (fork.status, fork.can_resume) == ("failed", True)
    failing.clear()
    assert fork.resume().wait(PATIENCE).answer == "answer to go"
    assert run.status == "failed"
    assert s.resume().wait(PATIENCE).answer == "answer to go"


def test_what_was_done_before_a_failure_is_not_done_again_in_the_fork(session, forking):
    done = []
    failing = [True]

    def pay(to: str) -> str:
        """Pay."""
        done.append(to)
        return f"paid {to}"

    def model(messages):
        if messages[-1].type != "tool":
            return [call("pay", to="Anna"), call("pay", to="Ben")]
        if failing:
            raise RuntimeError("the line is down")
        return "both are paid"

    s = session(model, tools=[pay])
    ask(s)
    fork = forking(s)
    failing.clear()
    assert fork.resume().wait(PATIENCE).answer == "both are paid"
    assert sorted(done) == ["Anna", "Ben"]


def test_a_stopped_run_can_be_forked_at_any_of_its_steps(session, forking):
    gate = Gate()

    def model(messages):
        results = [m for m in messages if m.type == "tool"]
        return "done" if len(results) > 1 else call("hold") if results else call("ls", path="/")

    s = session(model, tools=[gate.tool()])
    s.ask("go")
    gate.reached.wait(PATIENCE)
    s.stop()
    gate.opened.set()
    for step in [None, *sorted(past_states(s))]:
        fork = forking(s, step)
        assert fork.status in ("stopped", "done"), step
        assert ask(fork, "go on").status == "done", step
        check_conversation(fork.state["messages"])
        fork.close()


def test_a_running_conversation_cannot_be_forked(session):
    gate = Gate()
    s = session([call("hold"), "done"], tools=[gate.tool()])
    run = s.ask("go")
    gate.reached.wait(PATIENCE)
    with pytest.raises(SessionError, match="stop"):
        s.fork()
    gate.opened.set()
    assert run.wait(PATIENCE).answer == "done"
    assert list(listed(s.workspace)) == ["main"]


def test_a_fork_answers_by_the_same_policy_and_has_the_same_tools(session, forking, tmp_path):
    s = session([echo, write(), "done"], respond="approve", interrupt_on={"write_file": True})
    ask(s, "one")
    assert ask(forking(s), "write").answer == "done"
    assert (tmp_path / "new.md").exists()


def test_what_was_allowed_for_good_is_allowed_in_the_fork_but_not_the_other_way_round(
    session, forking, tmp_path
):
    def model(messages):
        asked = messages[-1].text
        return "done" if messages[-1].type == "tool" else write(f"/workspace/{asked}")

    def always(session, pattern):
        decision = {"type": "approve", "always": pattern}
        session.respond(session.questions[0].id, {"decisions": [decision]})
        session.runs[-1].wait(PATIENCE)

    s = session(model)
    ask(s, "a.md")
    always(s, "/workspace/*.md")
    fork = forking(s)
    assert ask(fork, "b.md").status == "done"
    assert ask(fork, "b.txt").status == "waiting"
    always(fork, "/workspace/*.txt")
    assert ask(fork, "c.txt").status == "done"
    assert ask(s, "d.txt").status == "waiting"


def test_a_fork_remembers_what_it_has_spent(session, forking):
    s = session(echo, budget=Budget(calls=3))
    ask(s, "one")
    fork = forking(s, thread="branch")
    ask(fork, "two")
    ask(fork, "three")
    fork.close()
    s.close()
    again = session(echo, thread="branch", budget=Budget(calls=2))
    assert ask(again, "four").status == "waiting"
    assert again.questions[0].type == "budget_exhausted"


def test_what_a_fork_spends_is_not_the_originals(session, forking):
    s = session(echo, budget=Budget(calls=3))
    ask(s, "one")
    fork = forking(s)
    ask(fork, "two")
    ask(fork, "three")
    assert ask(s, "two").status == "done"
    assert ask(s, "three").status == "done"


# Steps and names


@pytest.mark.parametrize("step", [-2, 999, "4", 2.5, "last"])
def test_a_step_that_does_not_exist_is_refused_and_leaves_nothing(session, step):
    s = session(at_work)
    ask(s, "one")
    with pytest.raises(SessionError, match="Steps go from -1 to"):
        s.fork(step)
    assert list(listed(s.workspace)) == ["main"]
    assert [path.name for path in folder_of(s.workspace).parent.iterdir()] == ["main"]


def test_a_conversation_that_has_not_begun_cannot_be_forked(session):
    s = session(echo)
    with pytest.raises(SessionError, match="Ask something first"):
        s.fork()
    assert list(listed(s.workspace)) == ["main"]


def test_a_step_from_the_trace_may_come_as_pandas_gives_it(session, forking):
    s = session(at_work)
    ask(s, "one")
    step = s.trace.query("kind == 'tool_call' and name == 'write_file'").step.iloc[0]
    assert not forking(s, step).state.get("files")


def test_forks_are_given_names_that_are_free(session, forking):
    s = session(echo)
    ask(s, "one")
    first, second = forking(s), forking(s)
    first.close()
    third = forking(s)
    assert len({s.thread, first.thread, second.thread, third.thread}) == 4
    assert all("main" in fork.thread for fork in (first, second, third))


def test_forks_are_called_as_one_likes(session, forking):
    s = session(echo)
    ask(s, "one")
    assert forking(s, thread="after 2020").thread == "after 2020"
    assert set(listed(s.workspace)) == {"main", "after 2020"}


@pytest.mark.parametrize("name", ["main", "other"])
def test_a_fork_takes_no_other_threads_place(session, name):
    other = session(echo, thread="other")
    ask(other, "mine")
    s = session(echo)
    ask(s, "one")
    with pytest.raises(ThreadError, match="already"):
        s.fork(thread=name)
    assert not other.is_closed
    assert not s.is_closed
    assert list(other.messages.text) == ["mine", "answer to mine"]


@pytest.mark.parametrize("name", ["x" * 500, " ", 5])
def test_a_name_that_no_thread_can_have_is_refused(session, name):
    s = session(echo)
    ask(s, "one")
    with pytest.raises(ThreadError):
        s.fork(thread=name)
    assert ask(s, "two").status == "done"


def test_forks_in_memory(session, forking, tmp_path):
    s = session(at_work, persist=False)
    ask(s, "one")
    first, second = forking(s, 4), forking(s)
    assert first.thread != second.thread
    ask(first, "otherwise")
    assert said(second) == ["one", "answer 1 to one"]
    assert list(tmp_path.iterdir()) == []


# Kept forks


def test_a_fork_is_a_thread_like_any_other(session, forking):
    s = session(at_work)
    ask(s, "one")
    fork = forking(s, 4, thread="branch")
    ask(fork, "otherwise")
    before = fork.events(), fork.state, [(r.question, r.status) for r in fork.runs]
    fork.close()
    again = session(at_work, thread="branch")
    assert (again.events(), again.state) == before[:2]
    assert [(r.question, r.status) for r in again.runs] == before[2]
    assert ask(again, "more").status == "done"
    again.close()
    deepnb.forget("branch", s.workspace)
    assert listed(s.workspace) == {"main": "done"}
    assert ask(s, "two").status == "done"


def test_a_waiting_fork_is_opened_again_and_waits(session, forking):
    s = session([write(), "done"])
    ask(s)
    fork = forking(s, thread="branch")
    questions = fork.questions
    fork.close()
    again = session(["done otherwise"], thread="branch")
    assert again.questions == questions
    again.respond(questions[0].id, "reject")
    assert again.runs[-1].wait(PATIENCE).answer == "done otherwise"


def test_a_fork_that_was_not_gone_on_with_is_opened_as_it_was(session, forking):
    s = session(at_work)
    ask(s, "one")
    fork = forking(s, 4, thread="branch")
    assert (fork.status, fork.can_resume) == ("stopped", True)
    # In the panel it stands after "Stopped", with a button that goes on.
    reason = "where the branch begins: go on as before, or ask something else"
    assert fork.runs[-1].reason == reason
    before = fork.events()
    fork.close()
    again = session(at_work, thread="branch")
    assert again.events() == before
    assert (again.status, again.can_resume) == ("stopped", True)
    assert again.resume().wait(PATIENCE).answer == "answer 1 to one"


# Comparing


def test_equal_conversations_do_not_differ(session, forking):
    s = session(at_work)
    ask(s, "one")
    fork = forking(s)
    assert s.compare(fork).empty
    assert s.compare(s).empty
    assert list(s.compare(fork).columns) == ["what", "where", "here", "there"]
    ask(s, "two")
    ask(fork, "two")
    assert s.compare(fork).empty  # although every message has an id of its own


def test_messages_that_differ(session, forking):
    s = session(echo)
    ask(s, "one")
    fork = forking(s)
    ask(s, "two")
    ask(fork, "three")
    found = s.compare(fork)
    assert set(found.what) == {"message"}
    assert list(found["where"]) == ["3", "4"]
    assert list(found.here) == ["human: two", "ai: answer to two"]
    assert list(found.there) == ["human: three", "ai: answer to three"]


def test_one_that_has_gone_further(session, forking):
    s = session(echo)
    ask(s, "one")
    fork = forking(s)
    ask(fork, "two")
    found = s.compare(fork)
    assert list(found.there) == ["human: two", "ai: answer to two"]
    assert found.here.isna().all()
    assert s.compare(fork).here.isna().all()
    assert fork.compare(s).there.isna().all()


def test_todos_and_files_that_differ(session, forking):
    def model(messages):
        asked = next(m.text for m in reversed(messages) if m.type == "human")
        if messages[-1].type == "tool":
            return "done"
        if asked == "one":
            return [plan("pending", "pending"), write("/scratch/a.md", "A")]
        return [plan("completed", "pending", "pending"), write(f"/scratch/{asked}.md", asked)]

    s = session(model)
    ask(s, "one")
    fork = forking(s)
    ask(fork, "b")
    found = s.compare(fork)
    others = found[found.what != "message"]
    assert [tuple(row) for row in others.fillna("-").itertuples(index=False)] == [
        ("todo", "part 0", "pending", "completed"),
        ("todo", "part 2", "-", "pending"),
        ("file", "/scratch/b.md", "-", "b"),
    ]


def test_conversations_that_have_nothing_to_do_with_each_other(session):
    one, two = session(echo, thread="one"), session(at_work, thread="two")
    ask(two, "two")
    assert len(one.compare(two)) > 3
    assert one.compare(two).here.isna().all()


# Exporting


@pytest.mark.parametrize("suffix", [".md", ".html", ".ipynb"])
def test_a_fork_is_exported_with_its_past_and_its_own(session, forking, tmp_path, suffix):
    s = session(echo)
    ask(s, "the shared question")
    fork = forking(s)
    ask(s, "only the original")
    ask(fork, "only the fork")
    text = fork.export(tmp_path / f"fork{suffix}").read_text()
    assert "the shared question" in text
    assert "only the fork" in text
    assert "only the original" not in text


def test_a_fork_of_the_middle_is_exported_as_far_as_it_goes(session, forking, tmp_path):
    s = session(at_work)
    ask(s, "one")
    text = Path(forking(s, 4).export(tmp_path / "fork.md")).read_text()
    assert "one" in text
    assert "answer 1" not in text


# Before a run: to ask it again, or otherwise


def test_a_branch_before_a_run_begins_where_that_was_asked(session, forking):
    s = session(at_work)
    runs = [ask(s, question) for question in ("one", "two", "three")]
    states = past_states(s)
    for before in (runs[1], runs[1].id):
        fork = forking(s, before=before)
        assert said(fork) == list(fork.messages.text) == ["one", "answer 1 to one"]
        assert [run.question for run in fork.runs] == ["one"]
        assert (fork.status, fork.can_resume) == ("done", False)
        began = next(e for e in kinds(s, "run_started") if e.run == runs[1].id)
        assert fork.state == states[began.step].values
        assert fork.forked_from == f"main, step {began.step}"
        assert ask(fork, "otherwise").answer == "answer 2 to otherwise"
        check_conversation(fork.state["messages"])
    assert said(s)[-1] == "answer 3 to three"


@pytest.mark.parametrize("persist", [True, False])
def test_a_branch_before_the_first_run_is_a_thread_that_has_not_begun(session, forking, persist):
    s = session(at_work, persist=persist)
    first = ask(s, "one")
    ask(s, "two")
    fork = forking(s, before=first)
    assert (fork.status, fork.events(), fork.runs, fork.state) == ("idle", [], [], {})
    assert (fork.title, fork.forked_from) == ("New thread", "main, its beginning")
    assert ask(fork, "otherwise").answer == "answer 1 to otherwise"
    assert said(fork) == ["otherwise", "answer 1 to otherwise"]


def test_a_run_is_asked_again_also_if_it_was_asked_while_another_ran(session, forking):
    gate = Gate()

    def model(messages):
        if messages[-1].text == "one":
            gate.wait()
        return echo(messages)

    s = session(model)
    s.ask("one")
    gate.reached.wait(PATIENCE)
    later = [s.ask(question) for question in ("two", "three")]
    gate.opened.set()
    later[1].wait(PATIENCE)
    fork = forking(s, before=later[0])
    assert said(fork) == list(fork.messages.text) == ["one", "answer to one"]
    assert [run.question for run in fork.runs] == ["one"]
    assert fork.status == "done"


def test_a_run_that_failed_was_stopped_or_waits_can_be_asked_again(session, forking):
    def model(messages):
        last = messages[-1].text
        if last == "fail":
            raise RuntimeError("the line is down")
        return write() if last == "write" else echo(messages)

    s = session(model)
    ask(s, "one")
    failed, waiting = ask(s, "fail"), ask(s, "write")
    assert (failed.status, waiting.status) == ("failed", "waiting")
    again = forking(s, before=failed)
    assert said(again) == ["one", "answer to one"]
    again = forking(s, before=waiting)
    assert (again.status, again.questions, again.can_resume) == ("failed", [], False)
    assert ask(again, "otherwise").answer == "answer to otherwise"
    check_conversation(again.state["messages"])
    s.stop()
    assert said(forking(s, before=waiting))[:2] == ["one", "answer to one"]
    assert s.status == "stopped"


def test_a_run_can_be_asked_again_in_a_branch_of_a_branch_and_after_a_restart(session, forking):
    s = session(at_work)
    ask(s, "one")
    branch = forking(s, thread="branch")
    second = ask(branch, "two")
    branch.close()
    branch = session(at_work, thread="branch")
    assert said(forking(branch, before=second.id)) == ["one", "answer 1 to one"]
    assert forking(branch, before=branch.runs[0]).state == {}


def test_what_was_taken_back_is_not_in_the_branch(session, forking):
    s = session([write(), "done", "after that"])
    run = ask(s, "one")
    s.withdraw(s.ask("never mind"))
    s.respond(s.questions[0].id, "reject")
    run.wait(PATIENCE)
    fork = forking(s)
    assert [r.question for r in fork.runs] == ["one"]
    assert {e.run for e in fork.events()} == {run.id}


def test_what_cannot_be_asked_again_is_refused(session):
    s = session([write(), "done"])
    ask(s, "one")
    queued = s.ask("two")
    with pytest.raises(SessionError, match="never begun"):
        s.fork(before=queued)
    with pytest.raises(SessionError, match="no run 'nobody'"):
        s.fork(before="nobody")
    with pytest.raises(SessionError, match="not both"):
        s.fork(3, before=s.runs[0])
    assert list(listed(s.workspace)) == ["main"]
