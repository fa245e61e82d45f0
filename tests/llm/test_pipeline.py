"""The stages around a call: their order, the middlewares that come along, and others' own."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from teahouse.core.errors import ProviderError, SettingsError
from teahouse.core.events import PartDelta, PartDone, ReplyDone, StreamEvent, Usage, fold
from teahouse.core.messages import Message, Text
from teahouse.llm.client import Client
from teahouse.llm.errors import Overloaded, WordRefused
from teahouse.llm.middlewares import build_pipeline
from teahouse.llm.pipeline import Answer, Batch, Call, Pipeline, Stages
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import NOBODY, Caller
from teahouse.llm.word_filter import word_filter
from teahouse.testing.providers import Script, ScriptedProvider

pytestmark = pytest.mark.anyio


def request(text: str = "hi") -> ModelRequest:
    return ModelRequest(model="", messages=(Message(role="user", parts=(Text(text=text),)),))


async def nobody_waits(seconds: float) -> None:
    return None


def client_of(pipeline: Pipeline, *replies: Script) -> tuple[Client, ScriptedProvider]:
    provider = ScriptedProvider(replies, piece=2)
    return Client({"a": provider}, sleep=nobody_waits, pipeline=lambda: pipeline), provider


async def read(
    client: Client, text: str = "hi", caller: Caller = NOBODY, model: str = "a/m"
) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    async with aclosing(client.stream(model, request(text), caller=caller)) as batches:
        async for batch in batches:
            events += batch
    return events


async def collect(batches: AsyncIterator[Batch], seen: list[StreamEvent]) -> None:
    async for batch in batches:
        seen += batch


def deltas(events: Sequence[StreamEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, PartDelta))


def recorder(name: str, story: list[str]) -> Stages:
    async def before_call(call: Call) -> Call:
        story.append(f"{name} before_call")
        return replace(call, request=replace(call.request, temperature=0.5))

    def on_event(call: Call) -> Any:
        assert call.request.temperature == 0.5

        def seen(batch: Batch) -> Batch:
            if any(isinstance(event, ReplyDone) for event in batch):
                story.append(f"{name} on_event")
            return batch

        return seen

    async def before_retry(call: Call, error: ProviderError, delay_s: float) -> float | None:
        story.append(f"{name} before_retry")
        return delay_s

    def on_finish(call: Call, error: BaseException | None) -> None:
        story.append(f"{name} on_finish {type(error).__name__}")

    return Stages(
        before_call=before_call, on_event=on_event, before_retry=before_retry, on_finish=on_finish
    )


async def test_the_stages_run_in_their_order() -> None:
    story: list[str] = []
    client, provider = client_of(
        Pipeline([recorder("one", story), recorder("two", story)]), Overloaded("a"), "hi"
    )

    await read(client)

    assert story == [
        "one before_call",
        "two before_call",
        "one before_retry",
        "two before_retry",
        "one on_event",
        "two on_event",
        "two on_finish NoneType",
        "one on_finish NoneType",
    ]
    assert provider.requests[0].temperature == 0.5


async def test_the_end_is_told_whatever_it_was() -> None:
    story: list[str] = []
    client, _ = client_of(Pipeline([recorder("one", story)]), ["x", Overloaded("a")], ["x", "y"])

    with suppress(ProviderError):
        await read(client)
    async with aclosing(client.stream("a/m", request())) as batches:
        await anext(batches)

    assert [line for line in story if "finish" in line] == [
        "one on_finish Overloaded",
        "one on_finish GeneratorExit",
    ]


async def test_a_stage_may_forbid_a_retry() -> None:
    async def never(call: Call, error: ProviderError, delay_s: float) -> None:
        return None

    client, provider = client_of(Pipeline([Stages(before_retry=never)]), Overloaded("a"), "hi")

    with pytest.raises(Overloaded):
        await read(client)
    assert len(provider.requests) == 1


async def test_a_stage_may_answer_in_the_models_place_and_later_stages_see_it() -> None:
    async def answer(call: Call) -> Answer:
        part = PartDone(index=0, part=Text(text="a damn answer"))
        return Answer([part, ReplyDone(reason="stop")])

    pipeline = Pipeline([Stages(before_call=answer), word_filter({"words": ["damn"]})])
    client, provider = client_of(pipeline)

    assert fold(await read(client)).text == "a **** answer"
    assert not provider.requests


WORDS = {"words": ["ass", "assassin", "脏话", "坏", "Straße"]}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a class act, you Ass.", "a class act, you ***."),
        ("an assassin", "an ********"),
        ("assassins", "assassins"),
        ("说脏话的人", "说**的人"),
        ("坏ass坏", "*****"),
        ("脏", "脏"),
        ("", ""),
    ],
)
async def test_words_are_masked_in_the_pieces_as_in_the_whole(said: str, shown: str) -> None:
    client, _ = client_of(Pipeline([word_filter(WORDS)]), [Text(text=said)])

    events = await read(client)

    assert fold(events).text == shown
    assert deltas(events) == shown


@given(
    st.lists(st.sampled_from(["a", "s", "ass", "sin", " ", "脏", "话", "坏", "STRASSE", "ß", "e"])),
    st.data(),
)
def test_however_a_text_is_cut_the_same_is_shown(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    stages = word_filter(WORDS)
    assert stages.on_event is not None
    change = stages.on_event(Call(model="a/m", request=request()))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    events: list[StreamEvent] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        events += change([PartDelta(index=0, kind="text", delta=text[start:end])])
    events += change([PartDone(index=0, part=Text(text=text)), ReplyDone(reason="stop")])

    assert deltas(events) == fold(events).text


async def test_a_word_of_the_person_is_masked_or_refused() -> None:
    masking, provider = client_of(Pipeline([word_filter(WORDS)]), "hi")
    refusing, unasked = client_of(Pipeline([word_filter({**WORDS, "action": "refuse"})]))

    await read(masking, "你坏")
    with pytest.raises(WordRefused):
        await read(refusing, "你坏")

    assert provider.requests[0].messages[0].text == "你*"
    assert not unasked.requests


async def test_a_word_of_the_model_is_refused_before_it_is_seen() -> None:
    client, _ = client_of(Pipeline([word_filter({**WORDS, "action": "refuse"})]), "well, you ass!")
    seen: list[StreamEvent] = []

    async with aclosing(client.stream("a/m", request())) as batches:
        with pytest.raises(WordRefused):
            await collect(batches, seen)

    assert deltas(seen) == "well, you "


async def test_the_same_request_of_the_same_person_is_answered_from_the_cache() -> None:
    pipeline = build_pipeline(["cache"], {"cache": {"entries": 2}})
    client, provider = client_of(pipeline, "one", "two", "three", "four")
    mei, tom = Caller(person="u_1"), Caller(person="u_2")

    first, again = await read(client, "q", mei), await read(client, "q", mei)

    assert fold(first).text == fold(again).text == "one"
    assert isinstance(again[-1], ReplyDone)
    assert again[-1].usage == Usage()
    assert fold(await read(client, "q", tom)).text == "two"
    assert fold(await read(client, "other", mei)).text == "three"
    assert fold(await read(client, "q", mei)).text == "four"  # the oldest went for the newest
    assert len(provider.requests) == 4


async def test_what_broke_off_is_not_kept_in_the_cache() -> None:
    client, _ = client_of(build_pipeline(["cache"], {}), ["x", Overloaded("a")], "whole")

    with pytest.raises(Overloaded):
        await read(client)

    assert fold(await read(client)).text == "whole"


@pytest.mark.parametrize(
    ("names", "options", "code"),
    [
        (["moon"], {}, "middleware_unknown"),
        (["word_filter"], {}, "middleware_options"),
        (["cache"], {"cache": {"entrys": 1}}, "middleware_options"),
    ],
)
def test_what_cannot_be_built_is_refused(
    names: list[str], options: Mapping[str, Mapping[str, Any]], code: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        build_pipeline(names, options)

    assert caught.value.code == code


async def test_a_third_partys_middleware_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "shout-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[teahouse.middleware]\nshout = shouting:shout\n")
    (tmp_path / "shouting.py").write_text(
        "from msgspec.structs import replace\n"
        "from teahouse.llm.pipeline import Stages\n\n\n"
        "def shout(options):\n"
        "    async def louder(call):\n"
        "        request = replace(call.request, temperature=options['temperature'])\n"
        "        return replace(call, request=request)\n\n"
        "    return Stages(before_call=louder)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    pipeline = build_pipeline(["shout"], {"shout": {"temperature": 2.0}})
    client, provider = client_of(pipeline, "hi")

    await read(client)

    assert provider.requests[0].temperature == 2.0
    sys.modules.pop("shouting", None)
