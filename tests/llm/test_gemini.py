"""The Gemini dialect: bodies that Google accepts, signatures back where they came from."""

from __future__ import annotations

from typing import Any

import pytest

from teahouse.core.messages import (
    Blob,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from teahouse.llm.errors import Malformed
from teahouse.llm.profiles import Profile, profile_for
from teahouse.llm.provider import ModelRequest, ToolSpec
from teahouse.llm.providers import build_provider
from teahouse.llm.settings import ProviderSettings
from teahouse.llm.transport import Transport
from teahouse.llm.wire.gemini_body import gemini_body
from teahouse.llm.wire.gemini_schema import in_subset
from teahouse.testing import gemini_answers as answers
from teahouse.testing.answers import Answer, json_answer
from teahouse.testing.conformance import Outcome, replay
from teahouse.testing.endpoint import Endpoint, Recorded
from tests.llm.conversation import body_of, call, result, said

pytestmark = pytest.mark.anyio
HI = said("user", "hi")


async def body(*messages: Message, **request: Any) -> JsonObject:
    return await body_of(gemini_body, *messages, **request)


async def contents(*history: Message, profile: Profile | None = None) -> list[JsonObject]:
    return (await body(*history, profile=profile))["contents"]


async def ask(answer: Answer, *history: Message) -> tuple[list[Recorded], Outcome]:
    async with Transport() as transport, Endpoint([answer]) as endpoint:
        settings = ProviderSettings(wire="gemini", base_url=endpoint.base_url)
        outcome = await replay(build_provider("acme", settings, "k", transport), history or (HI,))
    return endpoint.requests, outcome


async def test_a_plain_question_has_its_system_apart() -> None:
    assert await body(said("system", "be kind"), said("system", "be brief"), HI) == {
        "systemInstruction": {"parts": [{"text": "be kind"}, {"text": "be brief"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }


async def test_options_have_this_dialects_names_and_extras_go_deep() -> None:
    extra = {"generationConfig": {"topK": 3}, "safetySettings": []}
    profile = Profile(thoughts=True, extra={"generationConfig": {"topP": 0.5}})

    found = await body(HI, profile=profile, max_tokens=9, temperature=0.5, extra=extra)

    assert found["safetySettings"] == []
    assert found["generationConfig"] == {
        "maxOutputTokens": 9,
        "temperature": 0.5,
        "thinkingConfig": {"includeThoughts": True},
        "topP": 0.5,
        "topK": 3,
    }


async def test_tools_are_declared_and_one_without_parameters_has_none() -> None:
    fields = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    tools = (
        ToolSpec(name="f", description="d", parameters=fields | {"additionalProperties": False}),
        ToolSpec(name="now", description="n", parameters={"type": "object", "properties": {}}),
    )

    declared = (await body(HI, tools=tools))["tools"][0]["functionDeclarations"]

    assert declared == [
        {
            "name": "f",
            "description": "d",
            "parameters": {
                "type": "OBJECT",
                "properties": {"x": {"type": "INTEGER"}},
                "required": ["x"],
            },
        },
        {"name": "now", "description": "n"},
    ]


async def test_a_schema_that_the_subset_cannot_say_goes_whole() -> None:
    map_of_numbers = {"type": "object", "additionalProperties": {"type": "number"}}
    schema = {"type": "object", "properties": {"prices": map_of_numbers}}
    tool = ToolSpec(name="f", description="d", parameters=schema)

    found = await body(HI, tools=(tool,), schema=schema)
    loose = await body(HI, schema=schema, profile=Profile(json_schema=False))

    assert found["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == schema
    assert found["generationConfig"]["responseJsonSchema"] == schema
    assert loose["generationConfig"] == {"responseMimeType": "application/json"}


@pytest.mark.parametrize(
    ("schema", "said_as"),
    [
        ({"type": "string", "format": "email"}, {"type": "STRING"}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": ["integer", "null"]}, {"type": "INTEGER", "nullable": True}),
        (
            {"type": ["integer", "string"]},
            {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"},
            {"type": "STRING", "nullable": True, "description": "d"},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]},
            {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]},
        ),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        ({"type": "integer", "enum": [1, 2]}, None),
        ({"type": "object"}, None),
        (
            {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
            None,
        ),
        ({"type": "array"}, None),
        ({"type": "array", "items": {"type": "string"}, "prefixItems": []}, None),
        ({"$ref": "#/nowhere"}, None),
        ({"$ref": "https://example.com/schema"}, None),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean", "title": "t"}}},
            {"type": "BOOLEAN", "title": "t"},
        ),
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
            },
            None,
        ),
        (
            {
                "allOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a", "gone"]},
                    {"properties": {"b": {"type": "string"}}, "description": "d"},
                ]
            },
            {
                "type": "OBJECT",
                "properties": {"a": {"type": "STRING"}, "b": {"type": "STRING"}},
                "required": ["a"],
                "description": "d",
            },
        ),
    ],
)
def test_schemas_are_said_in_the_subset_or_not_at_all(
    schema: JsonObject, said_as: JsonObject | None
) -> None:
    assert in_subset(schema) == said_as


async def test_calls_are_parts_and_their_results_stand_together() -> None:
    found = await contents(
        HI,
        said("assistant", "see", call("a", x=1), call("b")),
        said("tool", result("b", "2"), result("a", "no", is_error=True)),
        said("user", "and?"),
    )

    assert found[1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "see"},
                {"functionCall": {"name": "f", "args": {"x": 1}}},
                {"functionCall": {"name": "f", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "2"}}},
                {"functionResponse": {"name": "f", "response": {"error": "no"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "and?"}]},
    ]


async def test_pictures_papers_and_sounds_go_as_data_and_other_files_by_name() -> None:
    def blob(kind: str, size: int = 3) -> Blob:
        return Blob(file="f_1", media_type=kind, name="a", size=size)

    kinds = ("image/png", "application/pdf", "audio/wav", "image/gif", "application/zip")
    seen = (await contents(said("user", *map(blob, kinds), blob("image/png", 1 << 30))))[0]
    blind = await contents(said("user", blob("image/png")), profile=Profile(vision=False))

    data = [part["inlineData"]["mimeType"] for part in seen["parts"] if "inlineData" in part]
    assert data == ["image/png", "application/pdf", "audio/wav"]
    assert seen["parts"][0]["inlineData"]["data"] == "Zl8x"
    assert [part["text"] for part in seen["parts"][3:]] == [
        "[file: a, image/gif, 3 bytes]",
        "[file: a, application/zip, 3 bytes]",
        f"[file: a, image/png, {1 << 30} bytes]",
    ]
    assert blind[0]["parts"] == [{"text": "[file: a, image/png, 3 bytes]"}]


async def test_blanks_and_thoughts_alone_are_no_message() -> None:
    found = await contents(HI, said("user", ""), said("assistant", " ", Thinking(text="hm")))

    assert len(found) == 1


REPLY: list[JsonObject] = [
    {"text": "first I", "thought": True},
    {"text": " think", "thought": True, "thoughtSignature": "A+/=="},
    {"text": "Then"},
    {"text": " I say", "thoughtSignature": "B+/=="},
    {"functionCall": {"name": "f", "args": {"x": 1}, "id": "fc1"}, "thoughtSignature": "C+/=="},
    {"functionCall": {"name": "g", "args": {}, "id": "fc2"}},
    {"text": "", "thoughtSignature": "D+/=="},
]


@pytest.mark.parametrize("sizes", [(7,), (1,) * 7, (2, 3, 2), (4, 3)])
async def test_a_whole_reply_goes_back_part_by_part_as_it_came(sizes: tuple[int, ...]) -> None:
    parts = iter(REPLY)
    chunks = [answers.chunk([next(parts) for _ in range(size)]) for size in sizes]
    _, outcome = await ask(Answer(steps=(*chunks, answers.chunk([], "STOP"))))
    called = outcome.message.tool_calls
    results = said("tool", *(result(one.id, "ok") for one in called))

    found = await contents(HI, outcome.message, results)

    assert [one.id for one in called] == ["fc1", "fc2"]
    assert found[1] == {"role": "model", "parts": REPLY}
    assert [part["functionResponse"]["id"] for part in found[2]["parts"]] == ["fc1", "fc2"]


async def test_parts_go_back_in_the_order_in_which_they_came() -> None:
    parts = [{"text": "a"}, {"functionCall": {"name": "f", "args": {}}}, {"text": "b"}]
    _, outcome = await ask(Answer(steps=(answers.chunk(parts, "STOP"),)))

    assert (await contents(HI, outcome.message))[1]["parts"] == parts


async def test_half_a_character_does_not_leave_its_signed_part() -> None:
    cut = answers.chunk([{"text": "HALF", "thoughtSignature": "S"}, {"text": "b"}], "STOP")
    _, outcome = await ask(Answer(steps=(cut.replace(b"HALF", b"a\\ud83e"),)))

    assert (await contents(HI, outcome.message))[1]["parts"] == [
        {"text": "a\ufffd", "thoughtSignature": "S"},
        {"text": "b"},
    ]


async def test_what_one_endpoint_gave_goes_to_no_other() -> None:
    def given(**fields: object) -> JsonObject:
        return {"origin": "other/m", "given": {"signature": "S", **fields}}

    parts: tuple[Part, ...] = (
        Thinking(text="hm", opaque=given(of="thinking", length=2)),
        Text(text="ok"),
        Thinking(text="", opaque=given(of="text", length=2)),
        ToolCall(id="k", name="f", arguments={}, opaque=given(id="fc")),
    )

    found = await contents(HI, Message(role="assistant", parts=parts), said("tool", result("k")))

    assert found[1]["parts"] == [{"text": "ok"}, {"functionCall": {"name": "f", "args": {}}}]
    assert "id" not in found[2]["parts"][0]["functionResponse"]


async def test_models_that_demand_signatures_get_the_one_for_calls_of_others() -> None:
    profile = profile_for(Profile(), "gemini-3-pro", {})
    own = {"origin": "acme/m", "given": {"signature": "S"}}
    signed = ToolCall(id="c", name="f", arguments={}, opaque=own)

    _, foreign, _, mixed, _ = await contents(
        HI,
        said("assistant", call("a"), call("b")),
        said("tool", result("a", "1"), result("b", "2")),
        said("assistant", signed, call("d")),
        said("tool", result("c", "3"), result("d", "4")),
        profile=profile,
    )

    assert [part.get("thoughtSignature") for part in foreign["parts"]] == [
        "skip_thought_signature_validator",
        None,
    ]
    assert [part.get("thoughtSignature") for part in mixed["parts"]] == ["S", None]


@pytest.mark.parametrize(
    ("model", "thoughts", "signatures"),
    [
        ("gemini-2.0-flash", False, False),
        ("gemini-2.5-pro", True, False),
        ("gemini-2.5-flash-image", False, False),
        ("gemini-3-pro-preview", True, True),
        ("gemini-flash-latest", True, True),
        ("gpt-5", False, False),
    ],
)
def test_what_is_known_of_a_model_is_in_its_profile(
    model: str, thoughts: bool, signatures: bool
) -> None:
    profile = profile_for(Profile(), model, {})

    assert (profile.thoughts, profile.call_signatures) == (thoughts, signatures)


@pytest.mark.parametrize(
    ("base", "model", "path"),
    [
        ("", "gemini-x", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"),
        ("/v1beta/", "models/gemini-x", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"),
        ("/v1beta/openai", "tunedModels/a b", "/v1beta/tunedModels/a%20b:streamGenerateContent"),
    ],
)
async def test_a_request_bears_the_key_and_finds_its_door(base: str, model: str, path: str) -> None:
    async with Transport() as transport, Endpoint([answers.text_answer(["ok"])]) as endpoint:
        host = endpoint.base_url.removesuffix("/v1")
        settings = ProviderSettings(wire="gemini", base_url=host + base, headers={"X-Title": "t"})
        provider = build_provider("acme", settings, "k-1", transport)
        async for _ in provider.stream(ModelRequest(model=model, messages=(HI,))):
            pass

    (recorded,) = endpoint.requests
    assert recorded.path.startswith(path)
    assert recorded.headers["x-goog-api-key"] == "k-1"
    assert recorded.headers["x-title"] == "t"
    assert "authorization" not in recorded.headers
    assert "k-1" not in recorded.path


async def test_a_call_that_the_model_broke_may_be_tried_again() -> None:
    _, outcome = await ask(Answer(steps=(answers.chunk([], "MALFORMED_FUNCTION_CALL"),)))

    assert isinstance(outcome.error, Malformed)
    assert outcome.error.retryable


async def test_models_are_listed_with_their_windows_and_embedders_are_not() -> None:
    rows = [
        {
            "name": "models/gemini-x",
            "inputTokenLimit": 1_048_576,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        },
        {"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/bare"},
    ]
    listed = json_answer({"models": rows})
    async with Transport() as transport, Endpoint(models=listed) as endpoint:
        settings = ProviderSettings(wire="gemini", base_url=endpoint.base_url)
        found = await build_provider("acme", settings, None, transport).models()

    assert [(m.id, m.context_window) for m in found] == [("gemini-x", 1_048_576), ("bare", None)]


async def test_what_was_cached_is_part_of_the_prompt_and_thoughts_are_part_of_the_output() -> None:
    counts = {"prompt": 100, "cachedContent": 64, "candidates": 3, "thoughts": 5}

    _, outcome = await ask(Answer(steps=(answers.chunk([{"text": "ok"}], "STOP", **counts),)))

    assert outcome.done is not None
    assert outcome.done.usage == Usage(input=100, output=8, cached=64, reasoning=5)
