"""A model, people and their pages for a server that is killed under them; see `crash`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import aiohttp

from teahouse.core.events import StreamEnd
from teahouse.testing.answers import Answer, text_answer, tool_answer
from teahouse.testing.house import House
from teahouse.testing.witness import Ack, Reader, Witness

MESSAGES_PER_CONVERSATION = 12
GIVE_UP_S = 60.0
AGAIN_S = 0.03
ENDED = {"done", "failed", "stopped"}
T = TypeVar("T")


class Model:
    """Answers as the message asks, `TAG [tools N] [words N] [pause MS]`.

    Every tool call gets an id of its own: a reply that was asked for twice can be told apart.
    """

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._numbers = itertools.count(1)

    def __call__(self, body: dict[str, Any]) -> Answer:
        messages: list[dict[str, Any]] = body["messages"]
        asked = max(i for i, message in enumerate(messages) if message["role"] == "user")
        results = [m for m in messages if m["role"] == "tool"]
        for message in results:
            self._witness.result(message["tool_call_id"], message["content"])
        text = _plain(messages[asked]["content"])
        if text.startswith("tag"):
            done = sum(1 for message in messages[asked:] if message["role"] == "tool")
            if done < _number(text, "tools"):
                return tool_answer([(f"call_{next(self._numbers)}", "now", {})])
            pause = _number(text, "pause") / 1000
            return text_answer(_pieces(text), between=(pause,) if pause else ())
        return text_answer(["A title"])


def _pieces(text: str) -> list[str]:
    return [f"<{text.partition(' ')[0]}", *(f" {n}" for n in range(_number(text, "words"))), ">"]


def _number(text: str, name: str) -> int:
    found = re.search(rf"\[{name} (\d+)\]", text)
    return int(found[1]) if found else 0


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class Talker:
    """One person at work: sends, repeats, stops, and starts a new conversation now and then."""

    def __init__(self, name: str, house: House, witness: Witness, agent: str, seed: str) -> None:
        self.name, self._house, self._witness, self._agent = name, house, witness, agent
        self._chance = random.Random(seed)  # noqa: S311  a repeatable choice, no secret
        self._count = 0
        self.conversation: str | None = None
        self.conversations: list[str] = []

    async def talk(self, over: asyncio.Event, group: asyncio.TaskGroup) -> None:
        while not over.is_set():
            if self._count % MESSAGES_PER_CONVERSATION == 0:
                self.conversation = None
            self._count += 1
            ack = await self._say(self._message())
            run = ack.runs[0]
            if self._chance.random() < 0.2:
                group.create_task(self._follow(run))
            if self._chance.random() < 0.1:
                await self._stop(run)
            if self._chance.random() < 0.7:
                await self._wait_for(run)

    def _message(self) -> str:
        chance = self._chance
        tools = chance.choice((0, 0, 1, 2, 3))
        words, pause = chance.choice(((5, 0), (40, 0), (20, 15), (60, 10)))
        return f"tag-{self.name}-{self._count} [tools {tools}] [words {words}] [pause {pause}]"

    async def _say(self, text: str) -> Ack:
        """Send until it is acknowledged, as a client must; now and then send once too often."""
        client_id = f"{self.name}-{self._count}"
        where = {"conversation": self.conversation} if self.conversation else {"agent": self._agent}
        body = {**where, "text": text, "client_id": client_id}

        async def send() -> Ack:
            answer = await again(lambda: self._house.api("POST", "/api/messages", body))
            ack = Ack(
                client_id=client_id,
                text=text,
                expected="".join(_pieces(text)),
                conversation=answer["post"]["conversation"],
                post=answer["post"]["id"],
                runs=tuple(run["id"] for run in answer["runs"]),
            )
            self._witness.acks.append(ack)
            return ack

        if self._chance.random() < 0.15:  # two at once, as an impatient client does
            async with asyncio.TaskGroup() as both:
                twins = [both.create_task(send()) for _ in range(2)]
            ack = twins[0].result()
        else:
            ack = await send()
        if self._chance.random() < 0.1:
            ack = await send()
        if self.conversation != ack.conversation:
            self.conversation = ack.conversation
            self.conversations.append(ack.conversation)
        return ack

    async def _stop(self, run: str) -> None:
        await asyncio.sleep(self._chance.uniform(0, 0.3))
        self._witness.stops.add(run)
        with contextlib.suppress(aiohttp.ClientResponseError):  # gone: the judge will see it
            await again(lambda: self._house.api("POST", f"/api/runs/{run}/stop"))

    async def _wait_for(self, run: str) -> None:
        """Until the run ends, or patience does: `settle` judges, when no more kills hold it up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GIVE_UP_S):
                while True:
                    if await again(lambda: run_ended(self._house, run)):
                        return
                    await asyncio.sleep(AGAIN_S)

    async def _follow(self, run: str) -> None:
        """Read the run's events over SSE until its end, coming back with `after`."""
        reader = Reader(f"sse {run}", self._witness)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GIVE_UP_S):
                while True:
                    if await self._follow_once(run, reader):
                        return
                    await asyncio.sleep(AGAIN_S)

    async def _follow_once(self, run: str, reader: Reader) -> bool:
        query = "" if reader.seq is None else f"?after={reader.seq}"
        url = f"{self._house.url}/api/runs/{run}/events{query}"
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with self._house.session.get(url, headers=self._house.headers) as answer:
                if answer.status == 404:
                    return True
                answer.raise_for_status()
                async for line in answer.content:
                    if line.startswith(b"data:"):
                        event = reader.read(line.removeprefix(b"data:").strip()).event
                        if isinstance(event, StreamEnd):
                            return True
        return False

    async def watch(self, over: asyncio.Event, place: int) -> None:
        """A page that shows this person's conversation: reconnects, and is sometimes reloaded."""
        reader, shown = Reader("", self._witness), ""
        while not over.is_set():
            if self.conversation is None:
                await asyncio.sleep(AGAIN_S)
                continue
            if self.conversation != shown or self._chance.random() < 0.2:
                shown = self.conversation
                reader = Reader(f"page {place} of {self.name}", self._witness)
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(self._chance.uniform(0.5, 4)):
                    await self._watch_once(reader, shown)
            await asyncio.sleep(AGAIN_S)

    async def _watch_once(self, reader: Reader, conversation: str) -> None:
        async with self._house.socket() as socket:
            frame: dict[str, Any] = {"type": "subscribe", "conversation": conversation}
            if reader.seq is not None:
                frame["after"] = reader.seq
            await socket.send_str(json.dumps(frame))
            async for message in socket:
                if '"seq":' not in message.data[:100]:
                    raise RuntimeError(f"The server refused to be followed: {message.data}")
                reader.read(message.data.encode())
                if conversation != self.conversation:
                    return


async def run_ended(house: House, run: str) -> bool:
    """Whether there is nothing to wait for any more, as when the run is gone altogether."""
    try:
        return (await house.api("GET", f"/api/runs/{run}"))["status"] in ENDED
    except aiohttp.ClientResponseError as error:
        if error.status == 404:
            return True
        raise


async def again(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat the call until the server is there to answer it; a refusal is raised."""
    async with asyncio.timeout(GIVE_UP_S):
        while True:
            try:
                return await call()
            except aiohttp.ClientResponseError as error:
                if error.status < 500:
                    raise
            except (aiohttp.ClientError, OSError):
                pass
            await asyncio.sleep(AGAIN_S)
