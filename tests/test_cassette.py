"""Recording a model and replaying it, through real agents."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from deepnb.errors import ModelError, UnknownModelError, UnrecordedRequestError
from deepnb.models import record, replay
from deepnb.testing import ScriptedModel, allow_model_calls, call


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "tutorial.yaml"


@tool
def weather(city: str) -> str:
    """Forecast the weather."""
    return f"{city}: sunny\nand warm 😀"


class Verdict(BaseModel):
    """A verdict."""

    holds: bool
    reason: str


def ask(model, question="Weather in Zürich?", tools=(weather,), system="Be kind.\nBe brief."):
    agent = create_agent(model, list(tools), system_prompt=system)
    return agent.invoke({"messages": [HumanMessage(question)]})["messages"]


def two_steps() -> ScriptedModel:
    return ScriptedModel([call("weather", city="Zürich"), "It is sunny.\n\nEnjoy!"], window=5000)


def test_an_agent_runs_again_without_its_model(path):
    recorded = ask(record(two_steps(), path))
    replayed = ask(replay(path))

    assert [m.text for m in replayed] == [m.text for m in recorded]
    assert [m.type for m in replayed] == ["human", "ai", "tool", "ai"]
    assert replayed[1].tool_calls[0]["args"] == {"city": "Zürich"}


def test_the_file_is_made_to_be_read(path):
    ask(record(two_steps(), path))

    text = path.read_text(encoding="utf-8")
    assert text.startswith("deepnb-cassette: 1\nrecorded: '")
    assert "model: ScriptedModel\n" in text
    assert "    Zürich: sunny\n    and warm 😀\n" in text
    assert "      It is sunny.\n\n      Enjoy!\n" in text
    assert "- messages: [m1, m2, m3, m4]\n  tools: [t1]\n" in text
    assert text.count("Be kind.") == text.count("Forecast the weather.") == 1
    assert list(yaml.safe_load(text)) == [
        "deepnb-cassette",
        "recorded",
        "model",
        "profile",
        "tools",
        "messages",
        "exchanges",
    ]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a\n",
            "\n  b",
            "c \nd",
            "e\r\nf",
            "\tg\nh",
            "- i: #j",
            "k\u0007\nl",
            "'m'\n\"",
            "no",
        ),
        *("n\n\n", "\n", "\n\n\n", " \n\n", "o\x85\np", "q\u2028\n", "\ufeffr\ns", "---\n...\n"),
    ],
)
def test_any_text_comes_back_as_it_was(path, text):
    model = record(ScriptedModel([call("say", what=text), text, "the end"]), path)
    model.invoke(text)
    model.invoke(f"Say {text}.")
    model.invoke([SystemMessage(text), HumanMessage("Well?")])

    again = replay(path)
    assert again.invoke(text).tool_calls[0]["args"] == {"what": text}
    assert again.invoke(f"Say {text}.").text == text
    assert again.invoke([SystemMessage(text), HumanMessage("Well?")]).text == "the end"


def test_half_a_character_spoils_nothing(path):
    model = record(ScriptedModel(["a", "b \ud83d", "c"]), path)
    for question in ("one", "two \ud83d", "three"):
        model.invoke(question)

    again = replay(path)
    assert [again.invoke(q).text for q in ("one", "two \ud83d", "three")] == ["a", "b ?", "c"]


def test_a_reply_that_cannot_be_written_spoils_nothing(path):
    endless: dict = {}
    for _ in range(900):
        endless = {"a": endless}
    model = record(ScriptedModel([call("say", what=endless), "b"]), path)
    with pytest.raises(RecursionError):
        model.invoke("one")
    model.invoke("two")

    assert replay(path).invoke("two").text == "b"


def test_the_models_stand_in_for_the_real_one(path):
    model = record(two_steps(), path)
    ask(model)

    assert model._llm_type == "deepnb-scripted"
    assert model.profile == replay(path).profile == {"max_input_tokens": 5000}
    assert replay(path)._llm_type == "deepnb-replay"
    assert replay(path).model_name == "ScriptedModel"


def test_usage_metadata_and_thoughts_are_kept(path):
    reply = AIMessage(
        [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Yes."}],
        usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
        response_metadata={"finish_reason": "stop", "headers": {"x-account": "me"}},
    )
    record(ScriptedModel([reply]), path).invoke("Well?")

    replayed = replay(path).invoke("Well?")

    assert replayed.content == reply.content
    assert replayed.usage_metadata == reply.usage_metadata
    assert replayed.response_metadata["finish_reason"] == "stop"
    assert "headers" not in path.read_text()


def test_streaming_passes_chunks_on_and_replays_in_chunks(path):
    recorded = list(record(ScriptedModel(["one two three"]), path).stream("Count."))
    replayed = list(replay(path).stream("Count."))

    for chunks in (recorded, replayed):
        assert len([chunk for chunk in chunks if chunk.text]) == 3
        assert "".join(chunk.text for chunk in chunks) == "one two three"
    assert replay(path).invoke("Count.").text == "one two three"


async def test_recording_shows_each_chunk_before_the_next_is_made(path):
    made = []

    class Listening(ScriptedModel):
        async def _astream(self, *args, **kwargs):
            async for chunk in super()._astream(*args, **kwargs):
                made.append(chunk)
                yield chunk

    stream = record(Listening(["one two"]), path).astream("Count.")
    made_by_then = [len(made) async for _ in stream]

    assert made_by_then == [1, 2, 3]
    assert (await replay(path).ainvoke("Count.")).text == "one two"


def test_a_stream_of_an_agent_is_reported_once(path):
    def words(model):
        agent = create_agent(model, [weather])
        stream = agent.stream({"messages": [HumanMessage("?")]}, stream_mode="messages")
        return [chunk.text for chunk, _ in stream if chunk.type == "AIMessageChunk" and chunk.text]

    assert words(record(two_steps(), path)) == ["It ", "is ", "sunny.\n\n", "Enjoy!"]
    assert words(replay(path)) == ["It ", "is ", "sunny.\n\n", "Enjoy!"]


def test_structured_output_is_replayed(path):
    model = ScriptedModel([call("Verdict", holds=True, reason="so"), call("Verdict", holds=1)])
    structured = record(model, path).with_structured_output(Verdict, include_raw=True)
    structured.invoke("Is it?")
    structured.invoke("And that?")

    again = replay(path).with_structured_output(Verdict, include_raw=True)

    assert again.invoke("Is it?")["parsed"] == Verdict(holds=True, reason="so")
    assert again.invoke("And that?")["parsing_error"] is not None


def test_a_repeated_request_gets_its_replies_in_order_and_then_the_last(path):
    model = record(ScriptedModel(["first", call("weather", city="Bern")]), path)
    model.invoke("Again?")
    model.invoke("Again?")

    again = replay(path)
    replies = [again.invoke("Again?") for _ in range(4)]

    assert [bool(reply.tool_calls) for reply in replies] == [False, True, True, True]
    assert len({reply.tool_calls[0]["id"] for reply in replies[1:]}) == 3


def test_recording_again_adds_and_replaces_what_is_asked_anew(path):
    record(ScriptedModel(["old one", "old two"]), path).batch(
        ["One?", "Two?"], {"max_concurrency": 1}
    )
    record(ScriptedModel(["new two", "new three"]), path).batch(
        ["Two?", "Three?"], {"max_concurrency": 1}
    )

    again = replay(path)
    assert again.invoke("One?").text == "old one"
    assert again.invoke("Two?").text == again.invoke("Two?").text == "new two"
    assert again.invoke("Three?").text == "new three"


def test_two_models_may_record_into_one_file(path):
    main, sub = record(ScriptedModel(["main"]), path), record(ScriptedModel(["sub"]), path)
    main.invoke("Plan.")
    sub.invoke("Do.")

    assert replay(path).invoke("Plan.").text == "main"
    assert replay(path).invoke("Do.").text == "sub"


async def test_parallel_agents_are_told_apart_by_what_they_ask(path):
    def answer(messages):
        if isinstance(messages[-1], ToolMessage):
            return f"About {messages[0].text}: {messages[-1].text}"
        return call("weather", city=messages[-1].text)

    async def run(model, cities):
        agent = create_agent(model, [weather])
        states = [agent.ainvoke({"messages": [HumanMessage(city)]}) for city in cities]
        return {
            city: s["messages"][-1].text
            for city, s in zip(cities, await asyncio.gather(*states), strict=True)
        }

    cities = [f"City {number}" for number in range(12)]
    recorded = await run(record(ScriptedModel(answer), path), cities)

    assert await run(replay(path), cities[::-1]) == recorded
    assert len(set(recorded.values())) == 12


def test_threads_record_without_losing_an_exchange(path):
    model = record(ScriptedModel(lambda messages: f"re {messages[-1].text}"), path)
    model.batch([str(number) for number in range(30)], {"max_concurrency": 8})

    again = replay(path)
    assert [again.invoke(str(n)).text for n in range(30)] == [f"re {n}" for n in range(30)]


def conversation(history_file: str, call_id: str) -> list:
    return [
        SystemMessage(f"The history is in /conversation_history/{history_file}.md."),
        HumanMessage("Go on.", id=str(uuid.uuid4())),
        AIMessage("", tool_calls=[{"name": "ls", "args": {"path": "/"}, "id": call_id}]),
        ToolMessage(f"Moved to /large_tool_results/{call_id}", tool_call_id=call_id),
    ]


def test_ids_of_another_run_do_not_matter_and_replies_use_the_new_ones(path):
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    reply = [
        call("read_file", path=f"/conversation_history/{first}.md"),
        call("read_file", path="/large_tool_results/toolu_first01"),
    ]
    record(ScriptedModel([reply]), path).invoke(conversation(first, "toolu_first01"))

    replayed = replay(path).invoke(conversation(second, "toolu_second2"))

    assert [each["args"]["path"] for each in replayed.tool_calls] == [
        f"/conversation_history/{second}.md",
        "/large_tool_results/toolu_second2",
    ]
    assert len({each["id"] for each in replayed.tool_calls}) == 2


def test_an_id_that_only_the_reply_has_stays_what_it_is(path):
    made_up = str(uuid.uuid4())
    record(ScriptedModel([f"See {made_up}."]), path).invoke("An id, please.")

    assert replay(path).invoke("An id, please.").text == f"See {made_up}."


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Weather in Bern?"},
        {"tools": ()},
        {"system": "Be rude."},
    ],
)
def test_another_question_system_prompt_or_tool_is_another_request(path, change):
    ask(record(two_steps(), path))

    with pytest.raises(UnrecordedRequestError):
        ask(replay(path), **change)


def test_tool_choice_and_stop_are_part_of_a_request(path):
    model = record(ScriptedModel(["a", "b"]), path)
    model.bind_tools([weather], tool_choice="any").invoke("?")
    model.invoke("?", stop=["x"])

    again = replay(path)
    assert again.bind_tools([weather], tool_choice="any").invoke("?").text == "a"
    assert again.invoke("?", stop=["x"]).text == "b"
    for unrecorded in (again, again.bind_tools([weather]), again.bind(stop=["y"])):
        with pytest.raises(UnrecordedRequestError):
            unrecorded.invoke("?")


def test_an_unrecorded_request_shows_how_it_differs_from_the_nearest(path):
    model = record(ScriptedModel(["a", "b"]), path)
    model.invoke([SystemMessage("Be kind."), HumanMessage("Weather in Zürich?")])
    model.invoke([SystemMessage("Translate."), HumanMessage("Guten Tag")])

    with pytest.raises(UnrecordedRequestError) as caught:
        replay(path).invoke([SystemMessage("Be kind."), HumanMessage("Weather in Bern?")])

    message = str(caught.value)
    assert "-  text: Weather in Zürich?\n+  text: Weather in Bern?" in message
    assert "Guten Tag" not in message
    assert f"deepnb.models.record(model, '{path}')" in message


def test_a_long_difference_is_cut_short(path):
    record(ScriptedModel(["a"]), path).invoke("\n".join(f"line {n}" for n in range(200)))

    with pytest.raises(UnrecordedRequestError, match="more lines") as caught:
        replay(path).invoke("\n".join(f"row {n}" for n in range(200)))
    assert len(str(caught.value).splitlines()) < 35


SECRETS = {
    "an environment variable": "hunter2-hunter2",
    "JSON of credentials": '{"private": "abc\ndef"}',
    "an API key": "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "ecash": "cashuAeyJ0b2tlbiI6W3sicHJvb2ZzIjpb",
    "a header": "Bearer abcdef.ghijkl",
    "Google": "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "GitHub": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "GitHub, fine-grained": "github_pat_11ABCDEFG0123456789_abcdefgh",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "Hugging Face": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "Groq": "gsk_abcdefghijklmnopqrstuvwxyz0123456789",
    "Tavily": "tvly-abcdefghijklmnop",
    "Slack": "xoxb-123456789012-abcdefghijkl",
    "GitLab": "glpat-abcdefghij0123456789",
    "a JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N",
    "a URL": "https://me:pass-word@example.org/x",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_secrets_are_masked_everywhere_and_still_match(path, monkeypatch, secret):
    monkeypatch.setenv("EXAMPLE_PASSWORD", SECRETS["an environment variable"])
    monkeypatch.setenv("EXAMPLE_CREDENTIALS_JSON", SECRETS["JSON of credentials"])

    @tool(description=f"Never tell {secret}.")
    def tell(what: str) -> str:
        return f"Told {what}, and in JSON {json.dumps(secret)}."

    script = [call("tell", what=secret), f"The secret is {secret}!"]
    ask(record(ScriptedModel(script), path), f"Tell {secret}.", [tell], f"Keep {secret}.")

    replayed = ask(replay(path), f"Tell {secret}.", [tell], f"Keep {secret}.")

    hidden = secret.removeprefix("Bearer ").removeprefix("https://").removesuffix("@example.org/x")
    text = path.read_text(encoding="utf-8")
    assert hidden not in text
    assert json.dumps(hidden)[1:-1] not in text
    assert "[secret]" in text
    assert "[secret]" in replayed[-1].text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("authorization: BEARER abcdefghijklmnop", "abcdefghijklmnop"),
        ("git clone https://tokentokentoken@example.org/x", "tokentokentoken"),
        ("DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
        ('{"api_key": "correcthorse"}', "correcthorse"),
        (r'"{\"token\": \"abcd1234\"}"', "abcd1234"),
    ],
)
def test_a_secret_is_known_by_what_it_stands_in(path, text, hidden):
    record(ScriptedModel([text]), path).invoke(text)

    assert hidden not in path.read_text()
    assert replay(path).invoke(text).text != text


@pytest.mark.parametrize(
    "text",
    [
        "The secret: patience. Then token = tokenizer.next_token(), max_tokens: 100000.",
        "Bearer instruments are paid to the bearer, certificate or not.",
        "See https://example.org/a?mail=me@example.org and ssh://git@example.org/x.",
        "Open lm-studio in the notebook, with next_page_token: CAUQAA1234.",
    ],
)
def test_ordinary_words_are_not_masked(path, monkeypatch, text):
    monkeypatch.setenv("LM_STUDIO_API_KEY", "lm-studio")
    monkeypatch.setenv("JUPYTER_TOKEN", "notebook")
    record(ScriptedModel([text]), path).invoke(text)

    assert replay(path).invoke(text).text == text
    assert "[secret]" not in path.read_text()


@pytest.mark.parametrize(
    "name",
    [
        *("MY_API_KEY_2", "DB_PASS", "GH_PAT", "APP_PASSPHRASE", "OPENAI_KEYS", "SESSION_COOKIE"),
        *("PROXY_AUTH", "aws_secret_access_key", "AWS_ACCESS_KEY_ID", "X_CREDENTIALS_JSON"),
    ],
)
def test_a_variable_is_known_by_a_part_of_its_name(path, monkeypatch, name):
    monkeypatch.setenv(name, "zq81-77xkw")
    record(ScriptedModel([call("say", **{"zq81-77xkw": 1})]), path).invoke("It is zq81-77xkw.")

    assert "zq81" not in path.read_text()


def test_what_another_machine_masks_matches_all_the_same(path, monkeypatch):
    question = "Log in as user4711/x, please."
    monkeypatch.setenv("LOGIN_TOKEN", "user4711")
    record(ScriptedModel(["masked there"]), path).invoke(question)
    monkeypatch.delenv("LOGIN_TOKEN")
    record(ScriptedModel(["plain there"]), path).invoke("Log out, other4712!")

    assert replay(path).invoke(question).text == "masked there"
    monkeypatch.setenv("OTHER_TOKEN", "other4712")
    assert replay(path).invoke("Log out, other4712!").text == "plain there"
    for other in ("Log in as somebody else, please.", "Log in as /x, please.", "Log  out, x4712!"):
        with pytest.raises(UnrecordedRequestError):
            replay(path).invoke(other)


def test_processes_record_into_one_file_without_losing_an_exchange(path):
    code = (
        "import sys\n"
        "from deepnb.models import record\n"
        "from deepnb.testing import ScriptedModel\n"
        "name, path = sys.argv[1:]\n"
        "model = record(ScriptedModel(lambda messages: 're ' + messages[-1].text), path)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "for number in range(15):\n"
        "    model.invoke(f'{name} {number}')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, name, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for name in "ab"
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()

    again = replay(path)
    questions = [f"{name} {n}" for name in "ab" for n in range(15)]
    assert [again.invoke(question).text for question in questions] == [f"re {q}" for q in questions]


def test_a_recording_that_was_deleted_starts_anew(path):
    model = record(ScriptedModel(["old", "new"]), path)
    model.invoke("One?")
    path.unlink()
    model.invoke("Two?")

    assert replay(path).invoke("Two?").text == "new"
    with pytest.raises(UnrecordedRequestError):
        replay(path).invoke("One?")


def test_the_difference_from_a_long_recording_shows_only_what_differs(path):
    model = record(ScriptedModel(lambda messages: f"re {len(messages)}"), path)
    messages = [SystemMessage("Be kind.")]
    for number in range(30):
        messages.append(HumanMessage(f"Question {number}"))
        messages.append(model.invoke(messages))

    with pytest.raises(UnrecordedRequestError) as caught:
        replay(path).invoke([*messages[:41], HumanMessage("Something else")])

    assert "-  text: Question 20\n+  text: Something else" in str(caught.value)
    assert "more lines" not in str(caught.value)


def test_a_failed_call_is_not_recorded(path):
    model = record(ScriptedModel([RuntimeError("boom"), "fine"]), path)
    with pytest.raises(RuntimeError, match="boom"):
        model.invoke("Well?")
    model.invoke("Well?")

    assert replay(path).invoke("Well?").text == "fine"


def test_what_was_recorded_before_a_crash_is_there(path):
    code = (
        "import sys, time\n"
        "from deepnb.models import record\n"
        "from deepnb.testing import ScriptedModel\n"
        "def answer(messages):\n"
        "    if messages[-1].text == 'third':\n"
        "        print('recorded two', flush=True)\n"
        "        time.sleep(600)\n"
        "    return 're ' + messages[-1].text\n"
        f"model = record(ScriptedModel(answer), {str(path)!r})\n"
        "for question in ('first', 'second', 'third'):\n"
        "    model.invoke(question)\n"
    )
    root = str(Path(__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert process.stdout.readline() == "recorded two\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()

    again = replay(path)
    assert [again.invoke(q).text for q in ("first", "second")] == ["re first", "re second"]
    with pytest.raises(UnrecordedRequestError):
        again.invoke("third")
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_missing_recording_is_named(path):
    with pytest.raises(UnknownModelError, match=r"tutorial\.yaml could not be read"):
        replay(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"a: [",
        b"\xff\xfe",
        b"deepnb-cassette: one",
        b"deepnb-cassette: 1\nexchanges:\n- messages: [m1]\n  replies: []",
        b"deepnb-cassette: 1\nexchanges: [1]",
        b"deepnb-cassette: 1\nexchanges:\n- messages: []",
        b"deepnb-cassette: 1\nmessages: 3",
    ],
)
def test_a_damaged_recording_is_refused_and_not_overwritten(path, content):
    path.write_bytes(content)

    with pytest.raises(ModelError, match="is not a recording"):
        replay(path)
    with pytest.raises(ModelError, match="is not a recording"):
        record(ScriptedModel(["x"]), path)
    assert path.read_bytes() == content


def test_a_newer_format_asks_for_an_upgrade(path):
    path.write_text("deepnb-cassette: 2\n")

    with pytest.raises(ModelError, match="pip install -U deepnb"):
        replay(path)


class _Provider(BaseHTTPRequestHandler):
    """As much of OpenAI as one answer takes."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.headers["Authorization"], request["model"]))
        message = {"role": "assistant", "content": "Good day."}
        body = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": request["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_no_key_of_a_provider_reaches_the_file(path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    key = "not-key-shaped-0123456789"
    model = ChatOpenAI(
        model="gpt-tutorial",
        api_key=key,
        base_url=f"http://{host}/v1",
        default_headers={"X-Team": "team-credential"},
        model_kwargs={"user": "user-4711"},
    )

    with allow_model_calls():
        recorded = record(model, path).invoke("Hello?")
    server.shutdown()
    server.server_close()

    assert server.seen == [(f"Bearer {key}", "gpt-tutorial")]
    text = path.read_text()
    for private in (key, host, "team-credential", "user-4711"):
        assert private not in text
    replayed = replay(path).invoke("Hello?")
    assert replayed.text == recorded.text == "Good day."
    assert replayed.usage_metadata == recorded.usage_metadata
    assert replayed.response_metadata["model_name"] == "gpt-tutorial"
    assert replay(path).model_name == "gpt-tutorial"
