"""Gemini's models before 3 refuse JSON and tools in one request: there it is had in other ways."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from teahouse.core.events import ReplyDone, StreamEvent, fold
from teahouse.core.messages import JsonObject, Message
from teahouse.llm.provider import ModelRequest, OneTool, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.testing import gemini_answers as answers
from teahouse.testing.answers import Answer
from teahouse.testing.endpoint import Endpoint
from tests.llm.conversation import said

pytestmark = pytest.mark.anyio
F = ToolSpec(name="f", description="d", parameters={"type": "object"})
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}}
JSON = {"gemini": {"generationConfig": {"responseMimeType": "application/json", "topK": 3}}}
MIME = {"responseMimeType": "application/json"}


async def ask(
    answer: Answer, model: str = "gemini-2.5-flash", **wishes: Any
) -> tuple[JsonObject, Message, ReplyDone]:
    """The body sent, and what came of the answer."""
    request = ModelRequest(model=model, messages=(said("user", "hi"),), **wishes)
    events: list[StreamEvent] = []
    async with Transport() as transport, Endpoint([answer]) as endpoint:
        settings = ProviderSettings(wire="gemini", base_url=endpoint.base_url)
        provider = build_provider("acme", settings, "k", transport)
        async with aclosing(provider.stream(request)) as batches:
            async for batch in batches:
                events += batch
    done = events[-1]
    assert isinstance(done, ReplyDone)
    return endpoint.requests[0].body, fold(events), done


def names(body: JsonObject) -> list[str]:
    return [one["name"] for tool in body.get("tools", ()) for one in tool["functionDeclarations"]]


OK = answers.text_answer(["{}"])


async def test_the_reply_is_the_arguments_of_one_more_tool() -> None:
    answer = answers.tool_answer([("k", "final_answer", {"x": 1})])
    body, message, done = await ask(answer, tools=(F,), schema=SCHEMA)

    assert names(body) == ["f", "final_answer"]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert not MIME.keys() & body.get("generationConfig", {}).keys()
    assert (message.text, message.tool_calls, done.reason) == ('{"x":1}', (), "stop")


async def test_another_tool_may_be_called_first() -> None:
    answer = answers.tool_answer([("k", "f", {})])
    _, message, done = await ask(answer, tools=(F,), schema=SCHEMA)

    assert [call.name for call in message.tool_calls] == ["f"]
    assert (message.text, done.reason) == ("", "tool_calls")


async def test_a_tool_of_that_name_is_a_tool_where_no_json_was_asked_for() -> None:
    answer = answers.tool_answer([("k", "final_answer", {"x": 1})])
    _, message, _ = await ask(answer, tools=(F,))

    assert [call.name for call in message.tool_calls] == ["final_answer"]


@pytest.mark.parametrize("choice", ["required", OneTool(name="f")])
async def test_a_reply_that_must_be_a_call_is_bound_to_no_schema(choice: Any) -> None:
    body, _, _ = await ask(OK, tools=(F,), schema=SCHEMA, tool_choice=choice)

    assert names(body) == ["f"]
    assert not MIME.keys() & body.get("generationConfig", {}).keys()


async def test_tools_that_may_not_be_called_are_not_offered() -> None:
    body, _, _ = await ask(OK, tools=(F,), schema=SCHEMA, tool_choice="none")

    assert names(body) == []
    assert "toolConfig" not in body
    assert body["generationConfig"]["responseMimeType"] == "application/json"


@pytest.mark.parametrize(
    "wish", [{"schema": {"type": "array", "items": SCHEMA}}, {"own": JSON, "schema": None}]
)
async def test_json_of_no_named_fields_is_asked_for_in_words(wish: dict[str, Any]) -> None:
    body, message, _ = await ask(OK, tools=(F,), **wish)

    assert names(body) == ["f"]
    assert "JSON" in body["systemInstruction"]["parts"][0]["text"]
    config = body["generationConfig"]
    assert "responseMimeType" not in config
    assert config.get("topK") == (3 if "own" in wish else None)
    assert message.text == "{}"


@pytest.mark.parametrize("wish", [{"schema": SCHEMA}, {"own": JSON}])
@pytest.mark.parametrize(
    ("model", "tools"),
    [("gemini-3-pro", (F,)), ("gemini-flash-latest", (F,)), ("gemini-2.5-flash", ())],
)
async def test_newer_models_take_both_and_all_take_json_alone(
    model: str, tools: tuple[ToolSpec, ...], wish: dict[str, Any]
) -> None:
    body, _, _ = await ask(OK, model, tools=tools, **wish)

    assert names(body) == [tool.name for tool in tools]
    assert body["generationConfig"]["responseMimeType"] == "application/json"
    assert "systemInstruction" not in body


async def test_a_call_of_no_name_is_no_reply() -> None:
    answer = Answer(steps=(answers.chunk([{"functionCall": {"args": {"x": 1}}}], "STOP"),))
    _, message, _ = await ask(answer, tools=(F,))

    assert message.text == ""
    assert len(message.tool_calls) == 1
