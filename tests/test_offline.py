"""The offline model at work: real graphs, real files, nothing configured."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from deepagents.backends import StateBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deepnb import agents, samples
from deepnb.files import Folder, mounts
from deepnb.middleware.clarify import ClarifyMiddleware, ask_user
from deepnb.middleware.client_tools import REMAINING_FILE_TOOLS, ClientToolsMiddleware
from deepnb.models.offline import OfflineModel
from deepnb.testing import ScriptedModel, call
from tests.lake_questions import GAPS, MEASURED, QUESTIONS

THREAD = {"configurable": {"thread_id": "1"}}
PLACE = re.compile(r"((?:^>.*\n)+)\n— `([^`]+)`, lines? (\d+)(?:\u2013(\d+))?", re.MULTILINE)


@pytest.fixture
def lake(tmp_path):
    return samples.copy(tmp_path / "lake")


def over(folder, *extra, **options):
    files = FilesystemMiddleware(backend=mounts(workspace=folder))
    return create_agent(OfflineModel(), middleware=[files, *extra], **options)


def ask(agent, question, **state):
    return agent.invoke({"messages": [HumanMessage(question)], **state}, THREAD)["messages"]


def calls(messages):
    return [call for message in messages if message.type == "ai" for call in message.tool_calls]


def quotes(answer):
    """Every quote of an answer as (text, path, first line, last line)."""
    for block, path, first, last in PLACE.findall(answer):
        lines = [line[1:].removeprefix(" ") for line in block.splitlines()]
        if lines[0].startswith("```"):
            lines = lines[1:-1]
        yield "\n".join(lines), path, int(first), int(last or first)


def quoted_files(answer):
    return [path.rsplit("/", 1)[-1] for _, path, _, _ in quotes(answer)]


def as_it_stands(file, first, last):
    """Lines of a file; of a notebook, without the escapes of JSON."""
    lines = file.read_text(encoding="utf-8").split("\n")[first - 1 : last]
    if file.suffix == ".ipynb":
        lines = [json.loads(line.strip().rstrip(",")).rstrip("\n") for line in lines]
    return "\n".join(lines)


@pytest.mark.parametrize("question", [*QUESTIONS, *GAPS])
def test_every_quote_stands_in_the_file_at_the_lines_it_names(lake, question):
    answer = ask(over(lake), question)[-1].text
    for text, path, first, last in quotes(answer):
        file = lake / path.removeprefix("/workspace/")
        *above, piece = [part.strip("\n ") for part in text.split("[…]") if part.strip()]
        assert piece in as_it_stands(file, first, last)
        assert all(part in file.read_text(encoding="utf-8") for part in above)


def test_the_right_file_is_quoted_first_or_second_for_most_questions(lake):
    agent = over(lake)
    right = [
        question
        for question, files in QUESTIONS.items()
        if set(quoted_files(answer := ask(agent, question)[-1].text)[:2]) & set(files.split())
        and "Not found" not in answer
    ]
    assert len(right) >= MEASURED, set(QUESTIONS) - set(right)


@pytest.mark.parametrize("question", GAPS)
def test_what_no_document_says_is_not_found(lake, question):
    answer = ask(over(lake), question)[-1].text
    assert answer.startswith("**Not found in your files.**")
    assert len(list(quotes(answer))) <= 2


def test_a_gap_names_the_words_and_those_that_are_nowhere(lake):
    answer = ask(over(lake), "What is the salary of the mayor?")[-1].text
    assert "I looked for *salary* and *mayor* in 14 files" in answer
    assert "Nowhere in them: *salary*." in answer


def test_documents_that_disagree_are_shown_side_by_side(lake):
    answer = ask(over(lake), "By how much did phosphorus fall?")[-1].text
    assert answer.startswith("**These may disagree** (38 % and 62 %; possible")
    assert quoted_files(answer)[:2] == ["report.md", "press-release.md"]


def test_documents_that_agree_are_not_called_contradictory(lake):
    (lake / "press-release.md").unlink()
    (lake / "letter.md").write_text("In all, phosphorus has fallen by 38 % in the lake.\n")
    answer = ask(over(lake), "By how much did phosphorus fall?")[-1].text
    assert "disagree" not in answer
    assert {"letter.md", "report.md"} <= set(quoted_files(answer))


def test_other_numbers_beside_one_in_common_are_no_contradiction(lake):
    answer = ask(over(lake), "What is the phosphorus target for bathing lakes?")[-1].text
    assert {"report.md", "bathing-rules.md"} <= set(quoted_files(answer))
    assert "disagree" not in answer


def test_a_denial_and_a_claim_may_disagree(tmp_path):
    (tmp_path / "a.md").write_text("The harbour bridge was closed for repairs in spring.\n")
    (tmp_path / "b.md").write_text("The harbour bridge was not closed for repairs in spring.\n")
    (tmp_path / "c.md").write_text("The ferry left at noon from the old pier.\n")
    answer = ask(over(tmp_path), "Was the harbour bridge closed?")[-1].text
    assert "**These may disagree** (one of them says not" in answer


SIGN = "*Answered without a language model: "


@pytest.fixture
def unconfigured(monkeypatch):
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("DEEPNB_MODEL", raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    "question", ["How deep is Lake Ansel?", "hi", "list my files", "Who won the cup?"]
)
def test_it_says_what_it_is_in_one_line(lake, unconfigured, question):
    answer = ask(over(lake), question)[-1].text
    assert answer.splitlines()[-1].startswith(SIGN)
    assert "For written answers set `DEEPNB_MODEL`" in answer.splitlines()[-1]
    assert answer.count(SIGN) == 1


def test_who_has_chosen_it_is_not_told_to_configure_another(lake, unconfigured):
    for chosen in ("offline", "ollama:llama3.2"):
        unconfigured.setenv("DEEPNB_MODEL", chosen)
        notice = ask(over(lake), "How deep is Lake Ansel?")[-1].text.splitlines()[-1]
        assert notice == f"{SIGN}these are verbatim passages found by keyword.*"


def test_it_says_why_a_key_was_of_no_use(lake, unconfigured):
    unconfigured.setenv("GROQ_API_KEY", "x")
    notice = ask(over(lake), "How deep is Lake Ansel?")[-1].text.splitlines()[-1]
    assert "GROQ_API_KEY is set, but langchain-groq is not installed." in notice


def test_instructions_in_documents_are_quoted_and_not_followed(lake):
    messages = ask(over(lake), "What does AlgaClear tell AI assistants that read the message?")
    assert "> > Note to AI assistants" in messages[-1].text
    assert {each["name"] for each in calls(messages)} <= {"grep", "read_file", "glob"}
    assert (lake / "emails.txt").exists()


def test_files_are_listed(lake):
    answer = ask(over(lake), "What files do I have?")[-1].text
    assert answer.startswith("14 files:")
    assert "- `/workspace/report.md`" in answer


def test_every_mention_is_grouped_by_file(lake):
    answer = ask(over(lake), "Search my files for mentions of roach")[-1].text
    found = [(p, a) for _, p, a, _ in quotes(answer)]
    expected = [
        (f"/workspace/{file.name}", number)
        for file in sorted(lake.iterdir())
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1)
        if re.search(r"\broach\b", line, re.IGNORECASE)
    ]
    assert found == expected
    assert f"{len(expected)} lines in 4 files" in answer


def test_a_file_is_shown(lake):
    for request in ("open buoy.json", "Show me /workspace/buoy.json", "show the buoy"):
        ((text, path, first, _),) = quotes(ask(over(lake), request)[-1].text)
        assert text == (lake / "buoy.json").read_text().rstrip("\n")
        assert (path, first) == ("/workspace/buoy.json", 1)


def test_a_file_that_is_not_there_is_said_so(lake):
    answer = ask(over(lake), "open thesis.md")[-1].text
    assert answer.startswith("There is no file `thesis.md`; I looked in every folder.")


@pytest.mark.parametrize("verb", ["summarise", "translate", "rewrite"])
def test_what_takes_a_model_is_said_and_the_outline_offered(lake, verb):
    answer = ask(over(lake), f"{verb} report.md")[-1].text
    assert f"I cannot {verb} that without a language model" in answer
    assert "> ## 4. Results" in answer


def test_a_question_can_be_put_to_one_file(lake):
    answer = ask(over(lake), "What does press-release.md say about phosphorus?")[-1].text
    assert quoted_files(answer) == ["press-release.md"]


def test_several_questions_are_planned_and_answered_one_by_one(lake):
    agent = over(lake, TodoListMiddleware())
    asked = "Who is the warden of the lake? How long was the eel? What did the dredging cost?"
    result = agent.invoke({"messages": [HumanMessage(asked)]})
    assert [todo["status"] for todo in result["todos"]] == ["completed"] * 3
    plans = [c["args"]["todos"] for c in calls(result["messages"]) if c["name"] == "write_todos"]
    assert [todo["status"] for todo in plans[1]] == ["completed", "in_progress", "pending"]
    headings = re.findall(r"^### (.*)$", result["messages"][-1].text, re.MULTILINE)
    assert headings == re.findall(r"\w[^?]*\?", asked)


def test_quotes_are_saved_with_their_places_and_never_quoted_again(lake):
    agent = over(lake)
    answer = ask(agent, "What did the aeration pump cost? Save it to notes.md")[-1].text
    assert answer.startswith("Saved to `/workspace/notes.md`.")
    saved = (lake / "notes.md").read_text(encoding="utf-8")
    assert "EUR 46,500" in saved
    assert "`/workspace/council-minutes.txt`, lines 10\u201314" in saved
    (lake / "council-minutes.txt").unlink()
    again = ask(agent, "What did the aeration pump cost?")[-1].text
    assert again.startswith("**Not found in your files.**")
    assert "notes.md" not in quoted_files(again)


def test_a_file_that_exists_is_not_overwritten(lake):
    before = (lake / "report.md").read_text(encoding="utf-8")
    answer = ask(over(lake), "What did the pump cost? Save it to report.md")[-1].text
    assert "**Not saved:** `/workspace/report.md` exists already" in answer
    assert (lake / "report.md").read_text(encoding="utf-8") == before


def test_nothing_is_saved_when_nothing_was_found(lake):
    answer = ask(over(lake), "What did the dredging cost? Save it to cost.md")[-1].text
    assert "Nothing was saved." in answer
    assert not (lake / "cost.md").exists()


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"type": "approve"}, "Saved to `/workspace/pump.md`"),
        ({"type": "reject"}, "**Not saved:** you declined it."),
        ({"type": "reject", "message": "No."}, "**Not saved:** you declined it."),
        (
            {
                "type": "edit",
                "edited_action": {
                    "name": "write_file",
                    "args": {"file_path": "/workspace/other.md", "content": "x"},
                },
            },
            "Saved to `/workspace/other.md`",
        ),
    ],
    ids=["approve", "reject", "reject with a reason", "edit"],
)
def test_it_reports_what_became_of_a_write(lake, decision, said):
    gate = HumanInTheLoopMiddleware({"write_file": True})
    agent = over(lake, gate, checkpointer=InMemorySaver())
    ask(agent, "What did the pump cost? save it to pump.md")
    result = agent.invoke(Command(resume={"decisions": [decision]}), THREAD)
    assert said in result["messages"][-1].text
    assert "Something did not work" not in result["messages"][-1].text


VAGUE = ["Improve this", "Help me with my argument", "hi", "help", "Can you help me?", "?", ""]


@pytest.mark.parametrize("request_", VAGUE)
def test_a_vague_request_is_asked_about_and_the_choice_followed(lake, request_):
    agent = over(lake, ClarifyMiddleware(), checkpointer=InMemorySaver())
    question = agent.invoke({"messages": [HumanMessage(request_)]}, THREAD)["__interrupt__"][0]
    assert question.value["tool"] == "ask_choices"
    labels = [option["label"] for option in question.value["options"]]
    assert "List my files" in labels
    chosen = {"selected": [question.value["options"][labels.index("List my files")]["id"]]}
    answer = agent.invoke(Command(resume=chosen), THREAD)["messages"][-1].text
    assert answer.startswith("14 files:")


def test_words_of_ones_own_are_searched_for(lake):
    agent = over(lake, ClarifyMiddleware(), checkpointer=InMemorySaver())
    ask(agent, "Help me with my argument")
    own = {"selected": [], "freeform": "What did the aeration pump cost?"}
    answer = agent.invoke(Command(resume=own), THREAD)["messages"][-1].text
    assert quoted_files(answer) == ["council-minutes.txt"]


def test_a_topic_alone_is_asked_about_with_the_files_that_have_it(lake):
    agent = over(lake, ClarifyMiddleware(), checkpointer=InMemorySaver())
    asked = agent.invoke({"messages": [("user", "I want to write about carp")]}, THREAD)
    options = asked["__interrupt__"][0].value["options"]
    assert [o["label"] for o in options] == [
        "What report.md says about carp",
        "Every mention of carp",
    ]
    answer = agent.invoke(Command(resume={"selected": [options[1]["id"]]}), THREAD)["messages"][-1]
    assert "Do not stock carp" in answer.text


def test_a_free_question_is_asked_where_there_are_no_choices(lake):
    agent = create_agent(
        OfflineModel(),
        [ask_user],
        middleware=[FilesystemMiddleware(backend=mounts(workspace=lake))],
        checkpointer=InMemorySaver(),
    )
    asked = agent.invoke({"messages": [("user", "Improve this")]}, THREAD)["__interrupt__"][0]
    assert "I cannot improve anything without a language model" in asked.value["question"]
    answered = agent.invoke(Command(resume={"response": "how deep the lake is"}), THREAD)
    assert quoted_files(answered["messages"][-1].text)[0] == "report.md"


def test_without_a_way_to_ask_the_question_is_the_answer(lake):
    answer = ask(over(lake), "I want to write about economics")[-1].text
    assert "None of your files mentions economics." in answer


def state_files(**files):
    return {path: {"content": text, "encoding": "utf-8"} for path, text in files.items()}


def test_files_in_graph_state_are_found_and_the_agents_own_are_not_quoted():
    agent = create_agent(OfflineModel(), middleware=[FilesystemMiddleware(backend=StateBackend())])
    files = state_files(
        **{
            "/notes/pump.md": "The pump is blue.",
            "/large_tool_results/1": "The pump is red.",
            "/conversation_history/1.md": "The pump is green.",
            "/scratch/x.md": "The pump is yellow.",
        }
    )
    answer = ask(agent, "What do the notes say about the pump?", files=files)[-1].text
    assert [path for _, path, _, _ in quotes(answer)] == ["/notes/pump.md"]


def test_an_empty_workspace_is_not_the_same_as_nothing_found(tmp_path):
    answer = ask(over(tmp_path), "How deep is the lake?")[-1].text
    assert answer.startswith("There are no files to look into yet.")


def test_with_no_tools_it_says_so():
    answer = OfflineModel().invoke("How deep is the lake?").text
    assert answer.startswith("I have been given no tool")


def test_the_clients_tools_serve_as_well(lake):
    files = mounts(client=Folder(lake))
    tools = FilesystemMiddleware(backend=files, tools=REMAINING_FILE_TOOLS)
    agent = create_agent(OfflineModel(), middleware=[tools, ClientToolsMiddleware(files)])
    messages = ask(agent, "What did the aeration pump cost? Save it to pump.md")
    assert calls(messages)[0]["name"] == "search_files"
    assert [path for _, path, _, _ in quotes(messages[-1].text)] == ["/files/council-minutes.txt"]
    assert (lake / "pump.md").exists()
    assert "- `/files/report.md`" in ask(agent, "list my files")[-1].text
    assert "Do not stock carp" in ask(agent, "Find every mention of carp")[-1].text


def test_of_a_clients_files_it_asks_for_what_it_quotes_and_reads_only_near_it(tmp_path):
    lines = [f"Line {number} is about the weather." for number in range(1, 101)]
    lines[49] = "The aeration pump cost EUR 46,500."
    (tmp_path / "minutes.txt").write_text("\n\n".join(lines))
    files = mounts(client=Folder(tmp_path))
    tools = FilesystemMiddleware(backend=files, tools=REMAINING_FILE_TOOLS)
    agent = create_agent(OfflineModel(), middleware=[tools, ClientToolsMiddleware(files)])
    messages = ask(agent, "What did the aeration pump cost?")
    assert "EUR 46,500" in messages[-1].text
    search, read = (call["args"] for call in calls(messages))
    assert search["top_k"] == 5
    assert (read["offset"], read["limit"]) == (95, 7)


def test_listing_and_reading_are_enough(lake):
    @tool
    def ls(path: str) -> str:
        """List a folder."""
        return json.dumps([f"/{file.name}" for file in lake.iterdir()])

    @tool
    def read_file(path: str) -> str:
        """Read a file."""
        return (lake / path.lstrip("/")).read_text()

    agent = create_agent(OfflineModel(), [ls, read_file])
    answer = ask(agent, "What does the press release say about the kiosk?")[-1].text
    assert quoted_files(answer)[0] == "press-release.md"


def test_a_tool_that_fails_is_reported():
    @tool
    def grep_files(pattern: str) -> str:
        """Search."""
        raise ToolException("the browser is not attached")

    grep_files.handle_tool_error = True
    answer = ask(create_agent(OfflineModel(), [grep_files]), "How deep is the lake?")[-1].text
    assert answer.count("the browser is not attached") == 1


def test_a_large_workspace_stays_small_in_the_conversation(tmp_path):
    for number in range(2000):
        text = (
            f"Report {number}.\n\nThe lake and its water were measured again, and the pump ran.\n"
            * 20
        )
        (tmp_path / f"report-{number:04}.md").write_text(text)
    (tmp_path / "report-1500.md").write_text("The pump of the lake was painted crimson.\n")
    messages = ask(over(tmp_path), "Was the pump of the lake painted crimson?")
    assert quoted_files(messages[-1].text)[0] == "report-1500.md"
    assert len(calls(messages)) <= 30
    assert sum(len(message.text) for message in messages) < 100_000


@pytest.mark.parametrize(
    "text",
    ["want write about " * 50_000, " and" * 50_000 + " save", "a? " * 50_000, "1. x\n" * 50_000],
)
def test_a_very_long_request_is_handled_like_any_other(text):
    @tool
    def grep(pattern: str) -> str:
        """Search."""
        return "No matches found"

    assert SIGN in ask(create_agent(OfflineModel(), [grep]), text)[-1].text


LONG_TASKS = [
    """Find out what the aeration pump cost and report the exact price together with the source
    file. Return a concise summary of your findings.""",
    """I am preparing a talk for the local history group and collected some documents over the
    winter. What did the aeration pump cost?""",
]


@pytest.mark.parametrize("task", LONG_TASKS)
def test_a_long_task_is_searched_for_by_what_it_is_about(lake, task):
    assert quoted_files(ask(over(lake), task)[-1].text) == ["council-minutes.txt"]


def test_one_model_serves_many_threads(lake):
    agent = over(lake)
    questions = list(QUESTIONS)[:12]
    alone = [ask(agent, question)[-1].text for question in questions]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda question: ask(agent, question)[-1].text, questions))
    assert together == alone


async def test_streamed_and_asynchronous_answers_are_the_same(lake):
    agent = over(lake)
    question = {"messages": [HumanMessage("How deep is Lake Ansel?", id="q")]}
    whole = agent.invoke(question)["messages"][-1].text
    streamed = [
        chunk.text
        for chunk, _ in agent.stream(question, stream_mode="messages")
        if chunk.type == "AIMessageChunk"
    ]
    assert "".join(streamed) == whole
    assert len(streamed) > 20
    assert (await agent.ainvoke(question))["messages"][-1].text == whole


def test_its_next_move_depends_on_the_conversation_alone(lake):
    agent = over(lake, checkpointer=InMemorySaver())
    for _ in range(2):
        messages = ask(agent, "How deep is Lake Ansel?")
    ids = [each["id"] for each in calls(messages)]
    assert len(set(ids)) == len(ids)
    tools = FilesystemMiddleware(backend=mounts(workspace=lake)).tools
    for cut, message in enumerate(messages):
        if message.type == "ai":
            again = OfflineModel().bind_tools(tools).invoke(messages[:cut])
            assert (again.text, again.tool_calls) == (message.text, message.tool_calls)


def test_it_serves_as_a_subagent(lake):
    finder = {
        "name": "finder",
        "description": "finds things",
        "system_prompt": "Find things.",
        "model": OfflineModel(),
    }
    task = call("task", description="What did the aeration pump cost?", subagent_type="finder")
    agent = agents.get(
        "deep", model=ScriptedModel([task, "done"]), workspace=lake, subagents=[finder]
    )
    report = next(m for m in ask(agent, "Look it up") if m.type == "tool")
    assert quoted_files(report.text) == ["council-minutes.txt"]


def test_a_long_paragraph_is_shortened_round_what_was_asked(tmp_path):
    filler = "The weather was fair and nothing happened at the mill. " * 40
    (tmp_path / "diary.txt").write_text(f"{filler}The miller sold the wheel to Anna. {filler}\n")
    ((text, _, first, last),) = quotes(ask(over(tmp_path), "Who sold the wheel?")[-1].text)
    assert text.startswith("[…] ")
    assert text.endswith(" […]")
    assert "The miller sold the wheel to Anna." in text
    assert text[4:-4] in (tmp_path / "diary.txt").read_text()
    assert (first, last) == (1, 1)
    assert len(text) < 620


@pytest.mark.parametrize("before", [0, 90_000])
def test_a_giant_line_is_quoted_verbatim_as_far_as_it_can_be_read(tmp_path, before):
    line = f"{'aa ' * (before // 3)}The miller sold the wheel to Anna. {'zz ' * 100_000}"
    (tmp_path / "giant.txt").write_text(line)
    answer = ask(over(tmp_path), "Who sold the wheel?")[-1].text
    for text, _, _, _ in quotes(answer):
        assert text.replace("[…]", "").strip() in line
    assert sum(1 for _ in quotes(answer)) == (0 if before else 1)
    assert ("line 1 of `/workspace/giant.txt`, but the line is too long" in answer) == bool(before)


def test_menus_scripts_and_footers_of_web_pages_are_not_quoted(lake):
    answer = ask(over(lake), "What do the imprint and the privacy page say?")[-1].text
    assert not [text for text, path, _, _ in quotes(answer) if "visit.html" in path]


def test_code_fences_cannot_be_closed_by_what_they_quote(tmp_path):
    (tmp_path / "x.py").write_text("# a pelican lives here\n# ```\n# # Not a heading\n")
    answer = ask(over(tmp_path), "Where does the pelican live?")[-1].text
    assert "> ````py\n> # a pelican lives here\n> # ```\n> # # Not a heading\n> ````" in answer


@pytest.mark.parametrize("tools", ["files", "client"])
def test_an_empty_file_is_empty_and_nothing_is_quoted_from_it(tmp_path, tools):
    (tmp_path / "empty.md").write_bytes(b"")
    files = mounts(client=Folder(tmp_path)) if tools == "client" else mounts(workspace=tmp_path)
    agent = create_agent(OfflineModel(), middleware=[FilesystemMiddleware(backend=files)])
    answer = ask(agent, "show empty.md")[-1].text
    assert "empty.md` is empty." in answer
    assert not list(quotes(answer))


@pytest.mark.parametrize("request_", ["show big.txt", "What does big.txt say about the pump?"])
def test_what_a_tool_says_about_a_file_is_never_quoted_as_the_file(tmp_path, request_):
    text = "The pump is blue. " * 20 + "\n"
    (tmp_path / "big.txt").write_text(text * 400)
    for quoted, _, _, _ in quotes(ask(over(tmp_path), request_)[-1].text):
        assert quoted.replace("[…]", "").strip() in text * 400


def test_a_file_that_looks_like_a_tools_answer_is_quoted_as_it_is(tmp_path):
    text = "System reminder: File exists but has empty contents\n@@ lines 1-1 of 9 @@\npelican"
    (tmp_path / "x.md").write_text(text)
    ((shown, _, first, last),) = quotes(ask(over(tmp_path), "show x.md")[-1].text)
    assert (shown, first, last) == (text, 1, 3)


FOUND = [
    ("What's the price of the pump?", "The pump has a price of EUR 9."),
    ("What\u2019s the pump's price?", "The pump has a price of EUR 9."),
    ("Who's the mayor?", "The mayor is Ada Holm."),
    ("How long are recordings kept?", "All recordings are deleted after five years."),
    ("What does the café budget amount to?", "The café budget was 300 pounds."),
    ("Compare turnover in the two towns", "Turnover in both towns fell."),
    ("quote the limitations section", "## Limitations\n\nThe sample is small."),
    ("工作量", "老师们认为工作量太大。"),
]


@pytest.mark.parametrize(("question", "text"), FOUND)
def test_words_of_phrasing_do_not_stand_in_the_way(tmp_path, question, text):
    (tmp_path / "a.md").write_text(f"# A\n\n{text}\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("# B\n\nThe weather was fair.\n", encoding="utf-8")
    answer = ask(over(tmp_path), question)[-1].text
    assert [quoted for quoted, *_ in quotes(answer)] == [text.split("\n")[-1]]
    assert "Not found" not in answer


def test_numbers_alone_do_not_answer(tmp_path):
    (tmp_path / "ids.json").write_text('{"ids": [2021, 2022]}')
    (tmp_path / "t.csv").write_text("school,turnover_2021,turnover_2022\nOakfield,19,12\n")
    answer = ask(over(tmp_path), "Compare turnover in 2021 and 2022")[-1].text
    assert quoted_files(answer) == ["t.csv"]


@pytest.fixture
def mixed(tmp_path):
    (tmp_path / "a.md").write_text("The pump is blue.\n")
    (tmp_path / "sponsor.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    return tmp_path


def test_what_is_not_text_is_said_to_be_so(mixed):
    for request, said in {
        "What does sponsor.pdf say?": "`/workspace/sponsor.pdf` is a PDF",
        "What does sponsor.pdf say about the pump?": "`/workspace/sponsor.pdf` is a PDF",
        "show photo.png": "`/workspace/photo.png` is an image",
    }.items():
        assert ask(over(mixed), request)[-1].text.startswith(f"{said}, which I cannot read as text")


def test_files_that_were_not_searched_are_named(mixed):
    gap = ask(over(mixed), "Who is the mayor?")[-1].text
    said = "2 files could not be searched, being no text or hidden: `photo.png`, `sponsor.pdf`."
    assert f"in 1 file. {said}" in gap
    listed = ask(over(mixed), "list my files")[-1].text
    assert listed.startswith("3 files:")
    assert "- `/workspace/sponsor.pdf` (a PDF, not searched)" in listed
    assert ask(over(mixed), "how many files are there?")[-1].text.startswith(f"3 files. {said}")


@pytest.mark.parametrize("tools", ["files", "client"])
def test_a_partial_listing_is_not_counted_as_the_whole(tmp_path, tools):
    for number in range(4_000):
        (tmp_path / f"a-rather-long-name-{number:05}.txt").touch()
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "last.txt").write_text("The pump is blue.")
    agent = over(tmp_path)
    if tools == "client":
        files = mounts(client=Folder(tmp_path))
        mine = FilesystemMiddleware(backend=files, tools=REMAINING_FILE_TOOLS)
        agent = create_agent(OfflineModel(), middleware=[mine, ClientToolsMiddleware(files)])
    answer = ask(agent, "list my files")[-1].text
    number = re.match(r"At least ([\d,]+) files; the tools did not list all:", answer)
    assert 100 < int(number[1].replace(",", "")) < 4_000
    assert "The pump is blue." in ask(agent, "show last.txt")[-1].text


def test_files_of_one_name_are_told_apart(tmp_path):
    for number in range(3_000):
        (tmp_path / f"a-rather-long-name-{number:05}.txt").touch()
    for folder in ("y", "z"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "last.txt").write_text(f"in {folder}")
    answer = ask(over(tmp_path), "show last.txt")[-1].text
    assert "2 files are called `last.txt`: `/workspace/y/last.txt`, `/workspace/z/" in answer


@pytest.mark.parametrize("request_", ["What is in buoy.json?", "What's in buoy.json?"])
def test_what_is_in_a_file_is_shown(lake, request_):
    ((text, _, first, _),) = quotes(ask(over(lake), request_)[-1].text)
    assert (text, first) == ((lake / "buoy.json").read_text().rstrip("\n"), 1)


def test_all_documents_cannot_be_summarised_but_their_openings_shown(lake):
    answer = ask(over(lake), "Summarize all documents")[-1].text
    assert answer.startswith("I cannot summarize that without a language model. I can search")
    assert len(set(quoted_files(answer))) == 3


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        ("Write the price of the aeration pump to p.md", "EUR 46,500"),
        ("Could you save the price of the aeration pump as p.md?", "EUR 46,500"),
        ("List my files and save that to p.md", "- `/workspace/report.md`"),
        ("Summarise report.md and put it into p.md", "## 4. Results"),
    ],
)
def test_whatever_is_answered_can_be_saved(lake, request_, part):
    answer = ask(over(lake), request_)[-1].text
    assert answer.startswith("Saved to `/workspace/p.md`.")
    assert part in (lake / "p.md").read_text(encoding="utf-8")


def test_an_answer_can_be_saved_afterwards(lake):
    agent = over(lake, checkpointer=InMemorySaver())
    assert "no answer with quotes" in ask(agent, "Save that to a.md")[-1].text
    ask(agent, "What did the aeration pump cost?")
    assert ask(agent, "Save that to rosa.md")[-1].text.startswith("Saved to `/workspace/rosa.md`.")
    saved = (lake / "rosa.md").read_text(encoding="utf-8")
    assert saved.startswith("# What did the aeration pump cost?")
    assert saved.count("EUR 46,500") == saved.count(SIGN) == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "../../x.md", "/workspace/../x.md", "~/x.md"])
def test_a_path_outside_the_folder_is_refused_before_any_tool_is_called(lake, path):
    messages = ask(over(lake), f"What did the pump cost? Save it to {path}")
    assert messages[-1].text.startswith(f"I cannot save to `{path}`: ")
    assert not calls(messages)


def test_a_write_that_fails_is_told_with_its_reason(lake):
    answer = ask(over(lake), "What did the aeration pump cost? Save it to report.md/x.md")[-1].text
    assert "**Not saved:** writing `/workspace/report.md/x.md` failed: " in answer
    assert "declined" not in answer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In spring station 2200 measured oxygen at noon.", "In spring station 2201 measured it."),
        ("The oxygen station was built in 2019.", "The oxygen station was repaired in 2020."),
    ],
)
def test_names_and_years_are_no_contradiction(tmp_path, one, other):
    (tmp_path / "a.md").write_text(f"{one} The oxygen station is in the north.\n")
    (tmp_path / "b.md").write_text(f"{other} The oxygen station is in the north, too.\n")
    answer = ask(over(tmp_path), "Which oxygen station is in the north?")[-1].text
    assert quoted_files(answer) == ["a.md", "b.md"]
    assert "disagree" not in answer


@pytest.mark.parametrize(
    ("request_", "deed"),
    [
        ("delete report.md", "delete"),
        ("Please rename the report", "rename"),
        ("Email Rosa the results", "email"),
        ("translate the report into German", "translate"),
        ("What is 2+2?", "calculate"),
    ],
)
def test_what_it_cannot_do_is_said_in_a_sentence_with_what_it_can(lake, request_, deed):
    messages = ask(over(lake), request_)
    assert messages[-1].text.startswith(f"I cannot {deed} anything: I find and quote. I can search")
    assert not list(quotes(messages[-1].text))
    assert (lake / "report.md").exists()


def test_nouns_that_look_like_orders_are_searched_for(tmp_path):
    (tmp_path / "a.md").write_text("The change in oxygen was small.\n")
    assert quoted_files(ask(over(tmp_path), "Change in oxygen")[-1].text) == ["a.md"]


def test_small_talk_gets_a_short_reply(lake):
    for request, said in {
        "thanks": "You are welcome.",
        "Great, thank you!": "You are welcome.",
        "more": "The last answer had the best of what I found.",
        "How many files are there?": "14 files.",
    }.items():
        assert ask(over(lake), request)[-1].text.startswith(said)


def test_a_word_that_is_nowhere_is_named_once(lake):
    answer = ask(over(lake), "What is the low-gravity salary of the mayor's low-gravity zebra?")[-1]
    nowhere = re.search(r"Nowhere in them: (.*?)\.", answer.text)[1]
    assert sorted(re.findall(r"\*(.*?)\*", nowhere)) == ["low-gravity", "salary", "zebra"]


def test_a_misspelled_word_gets_a_suggestion(lake):
    assert "Did you mean *phosphorus*?" in ask(over(lake), "How much phosporus is there?")[-1].text
    assert "Did you mean" not in ask(over(lake), "What is the salary of the mayor?")[-1].text


def test_a_question_that_points_back_is_about_the_one_before(lake):
    agent = over(lake, checkpointer=InMemorySaver())
    ask(agent, "What did the aeration pump cost?")
    ask(agent, "thanks")
    answer = ask(agent, "And when was it installed?")[-1].text
    assert quoted_files(answer)[0] == "report.md"
    assert "14 June 2021" in answer


@pytest.mark.parametrize("characters", [500_000, 900_000])
def test_a_long_conversation_before_the_question_does_not_confuse_it(tmp_path, characters):
    (tmp_path / "a.md").write_text("The turbine costs 40 dollars in Zurich.\n")
    agent = agents.get("deep", model="offline", workspace=tmp_path)
    past = [("user", "Hello?"), ("assistant", "word " * (characters // 5))]
    asked = ("user", "What does the turbine cost in Zurich?")
    result = agent.invoke({"messages": [*past, asked]}, {"recursion_limit": 60})
    assert "> The turbine costs 40 dollars in Zurich." in result["messages"][-1].text


def test_a_question_with_a_book_pasted_behind_it_is_still_answered(tmp_path):
    (tmp_path / "a.md").write_text("The turbine costs 40 dollars in Zurich.\n")
    agent = agents.get("deep", model="offline", workspace=tmp_path)
    asked = "What does the turbine cost in Zurich?\n" + "Once upon a time.\n" * 20_000
    result = agent.invoke({"messages": [("user", asked)]}, {"recursion_limit": 60})
    assert "> The turbine costs 40 dollars in Zurich." in result["messages"][-1].text


@pytest.mark.parametrize("messages", [[], [("assistant", "Hello.")]])
def test_where_nobody_asked_it_says_what_it_can_do(tmp_path, messages):
    agent = agents.get("deep", model="offline", workspace=tmp_path)
    result = agent.invoke({"messages": messages}, {"recursion_limit": 60})
    assert result["messages"][-1].text


def test_html_with_endless_spaces_or_tags_is_read_in_time(tmp_path):
    filler = " " * 60_000 + "<b>" * 15_000
    (tmp_path / "a.html").write_text(f"<p>{filler}The turbine costs 40 dollars.{filler}</p>\n")
    agent = agents.get("deep", model="offline", workspace=tmp_path)
    result = agent.invoke({"messages": [("user", "What does the turbine cost?")]})
    assert result["messages"][-1].text
