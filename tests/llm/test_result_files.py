"""Pictures and papers that a tool gave are seen, also where the result of a tool is text alone."""

from __future__ import annotations

from typing import Any

import pytest

from teahouse.core.messages import Blob, JsonObject, Message
from teahouse.llm.profiles import Profile, profile_for
from teahouse.llm.repair import repair
from teahouse.llm.vendors import VENDORS
from teahouse.llm.wire.gemini_body import gemini_body
from teahouse.llm.wire.openai_chat_body import chat_body
from tests.llm.conversation import body_of, call, result, said

pytestmark = pytest.mark.anyio
SHOT = Blob(file="f_1", media_type="image/png", name="a.png", size=3)
FAR = Blob(file="https://x.example/b.png", media_type="image/png", name="b.png", size=0)
PAPER = Blob(file="f_2", media_type="application/pdf", name="c.pdf", size=4)
FAR_PAPER = Blob(file="https://x.example/c", media_type="application/pdf", name="c", size=0)
SEEN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,Zl8x"}}
MENTION = "[file: a.png, image/png, 3 bytes]"
ASKED = (said("user", "hi"), said("assistant", call("a"), call("b")))
GIVEN = (said("tool", result("a", "one", SHOT)), said("tool", result("b", "two")))


def label(ref: str) -> JsonObject:
    return {"type": "text", "text": f"[files in the result of f, call {ref}]"}


async def chat(*history: Message, profile: Profile | None = None) -> list[Any]:
    return (await body_of(chat_body, *repair(history), profile=profile))["messages"]


async def gemini(*history: Message, profile: Profile | None = None) -> list[Any]:
    return (await body_of(gemini_body, *repair(history), profile=profile))["contents"]


def roles(written: list[Any]) -> str:
    return " ".join(message["role"] for message in written)


async def test_the_user_shows_them_behind_all_results_of_the_turn() -> None:
    written = await chat(*ASKED, *GIVEN)

    assert roles(written) == "user assistant tool tool user"
    assert [message["content"] for message in written[2:4]] == [f"one\n{MENTION}", "two"]
    assert written[-1]["content"] == [label("a"), SEEN]


async def test_what_the_user_says_next_stands_in_the_same_message() -> None:
    written = await chat(*ASKED, *GIVEN, said("user", "and?"))

    assert roles(written) == "user assistant tool tool user"
    assert written[-1]["content"] == [label("a"), SEEN, {"type": "text", "text": "and?"}]


async def test_they_stay_with_their_turn_when_the_talk_goes_on() -> None:
    later = (said("assistant", call("c")), said("tool", result("c", SHOT, SHOT)))
    written = await chat(*ASKED, *GIVEN, *later, said("assistant", "a cat"), said("user", "ok"))

    assert roles(written) == ("user assistant tool tool user assistant tool user assistant user")
    assert written[4]["content"] == [label("a"), SEEN]
    assert written[7]["content"] == [label("c"), SEEN, SEEN]


async def test_nothing_is_added_to_results_of_text() -> None:
    assert roles(await chat(*ASKED, GIVEN[1])) == "user assistant tool tool"


@pytest.mark.parametrize(
    ("vendor", "model"),
    [
        ("deepseek", "deepseek-chat"),  # sees nothing
        ("zhipu", "glm-4.6"),
        ("moonshot", "kimi-k2-0905-preview"),
        ("custom", "openai/gpt-oss-120b"),
        ("mistral", "pixtral-large"),  # wants its own turn after results
        ("openrouter", "mistralai/mistral-medium-3.1"),
    ],
)
async def test_only_their_names_are_read_where_they_cannot_be_shown(
    vendor: str, model: str
) -> None:
    profile = profile_for(VENDORS[vendor].profile, model, {})
    written = await chat(*ASKED, *GIVEN, profile=profile)

    assert roles(written) == "user assistant tool tool"
    assert written[2]["content"] == f"one\n{MENTION}"


@pytest.mark.parametrize(
    ("vendor", "model"),
    [
        ("openai", "gpt-4o"),
        ("openai", "o3"),
        ("zhipu", "glm-4.5v"),
        ("zhipu", "glm-4.1v-thinking"),
        ("moonshot", "kimi-k2.5"),
        ("dashscope", "qwen3-vl-plus"),
        ("google", "gemini-2.5-flash"),
    ],
)
def test_models_that_see_are_shown_them(vendor: str, model: str) -> None:
    profile = profile_for(VENDORS[vendor].profile, model, {})

    assert profile.vision
    assert profile.user_after_results


async def test_papers_go_along_and_addresses_where_the_vendor_fetches_them() -> None:
    given = said("tool", result("a", PAPER, FAR, FAR_PAPER), result("b"))
    plain = await chat(*ASKED, given)
    reader = await chat(*ASKED, given, profile=Profile(pdf=True))

    far = {"type": "image_url", "image_url": {"url": FAR.file}}
    assert plain[-1]["content"] == [label("a"), far]
    assert [part["type"] for part in reader[-1]["content"]] == ["text", "file", "image_url"]


async def test_older_geminis_see_them_in_a_content_behind_their_results() -> None:
    profile = profile_for(VENDORS["gemini"].profile, "gemini-2.5-flash", {})
    given = said("tool", result("a", "one", SHOT, FAR), result("b", PAPER))
    written = await gemini(*ASKED, given, said("user", "and?"), profile=profile)

    results, shown = written[2:]
    assert [set(part) for part in results["parts"]] == [{"functionResponse"}] * 2
    assert results["parts"][0]["functionResponse"]["response"]["output"].startswith(
        f"one\n{MENTION}"
    )
    assert shown["role"] == "user"
    assert shown["parts"] == [
        {"text": "[files in the result of f, call a]"},
        {"inlineData": {"mimeType": "image/png", "data": "Zl8x"}},
        {"text": "[files in the result of f, call b]"},
        {"inlineData": {"mimeType": "application/pdf", "data": "Zl8y"}},
        {"text": "and?"},
    ]


async def test_newer_geminis_see_them_in_the_results_alone() -> None:
    profile = profile_for(VENDORS["gemini"].profile, "gemini-3-flash", {})
    written = await gemini(*ASKED, *GIVEN, profile=profile)

    assert len(written) == 3
    assert "inlineData" in written[-1]["parts"][0]["functionResponse"]["parts"][0]


async def test_a_gemini_without_eyes_reads_their_names() -> None:
    written = await gemini(*ASKED, *GIVEN, profile=Profile(vision=False))

    assert len(written) == 3
    assert written[-1]["parts"][0]["functionResponse"]["response"] == {"output": f"one\n{MENTION}"}
