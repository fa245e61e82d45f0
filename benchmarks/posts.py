"""Durable posts per second: our store against bare sqlite3 that writes the same rows with FULL."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import shutil
import sqlite3
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.rows import Row, median, quantile
from teahouse.chat.ports import Conversation, Run
from teahouse.core.clock import SystemClock
from teahouse.core.events import Usage
from teahouse.core.ids import new_id
from teahouse.core.messages import Person, Post, Text
from teahouse.store.engine import WRITER_PRAGMAS
from teahouse.store.home import open_store

SENDERS, ROUNDS, SECONDS, CONVERSATIONS = 64, 3, 4.0, 50
AT = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = "茶馆里人来人往，水开了就续上。Tea is served hot, and the talk goes on. " * 4
TABLES = ("post", "run")


async def post_rows(folder: Path) -> list[Row]:
    ours: list[float] = []
    bare: list[float] = []
    waits: list[float] = []
    for n in range(ROUNDS):
        place = folder / f"store-{n}"
        rate, waited = await store_posts(place / "home")
        ours.append(rate)
        waits += waited
        bare.append(await bare_posts(place / "home" / "teahouse.db", place / "bare.db"))
        shutil.rmtree(place)
    ratio = median([a / b for a, b in zip(ours, bare, strict=True)])
    detail = f"{median(ours):,.0f} against {median(bare):,.0f} a second, {SENDERS} senders"
    return [
        Row("durable posts against bare SQLite", ratio, "×", 0.5, at_least=True, detail=detail),
        Row("acknowledgement of a post, p99", quantile(waits, 0.99) * 1000, "ms", 50),
    ]


async def store_posts(home: Path) -> tuple[float, list[float]]:
    """Posts a second, and how long each sender waited."""
    waits: list[float] = []
    async with open_store(home, SystemClock()) as store:
        person = Person(id=new_id("u"), name="owner", role="owner", epoch=1, created_at=AT)
        await store.people.add(person, None)
        places = [conversation(person.id) for _ in range(CONVERSATIONS)]
        for place in places:
            await store.log.create(place)
        numbers = iter(range(10_000_000))

        async def send(until: float) -> None:
            while time.perf_counter() < until:
                n = next(numbers)
                post, run = message(places[n % CONVERSATIONS], person.id, n)
                started = time.perf_counter()
                await store.log.receive(post, person.id, [run])
                waits.append(time.perf_counter() - started)

        await at_once(send, 0.5)  # a warm writer
        waits.clear()
        seconds = await at_once(send, SECONDS)
    return len(waits) / seconds, waits


async def at_once(send: Any, seconds: float) -> float:
    started = time.perf_counter()
    async with asyncio.TaskGroup() as senders:
        for _ in range(SENDERS):
            senders.create_task(send(started + seconds))
    return time.perf_counter() - started


def conversation(person: str) -> Conversation:
    return Conversation(
        id=new_id("c"),
        kind="direct",
        title="",
        title_by="none",
        agents=("a_bench",),
        people=(person,),
        head=None,
        last=None,
        pinned=False,
        archived=False,
        posts=0,
        created_at=AT,
        updated_at=AT,
    )


def message(place: Conversation, person: str, number: int) -> tuple[Post, Run]:
    post = Post(
        id=new_id("p"),
        conversation=place.id,
        parent=None,
        author=person,
        parts=(Text(text=WORDS),),
        at=AT,
        client_id=f"client-{number}",
    )
    run = Run(
        id=new_id("r"),
        conversation=place.id,
        trigger=post.id,
        participant="a_bench",
        person=person,
        model=None,
        status="queued",
        attempt=0,
        stop_asked=False,
        post=None,
        usage=Usage(),
        problem=None,
        created_at=AT,
        started_at=None,
        ended_at=None,
    )
    return post, run


async def bare_posts(ours: Path, path: Path) -> float:
    """Write what our store wrote (posts, runs, the conversation's head) with sqlite3 alone: the
    same tables and pragmas, the same number of senders, one thread, one commit for all waiting."""
    with contextlib.closing(sqlite3.connect(ours, timeout=5)) as source:
        ddl = [sql for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE sql NOTNULL")]
        rows = {t: source.execute(f"SELECT * FROM {t} ORDER BY rowid").fetchall() for t in TABLES}
        heads = source.execute("SELECT id, conversation FROM post ORDER BY rowid").fetchall()
        places = source.execute("SELECT * FROM conversation").fetchall()
    with contextlib.closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode=WAL")
        for sql in ddl:
            if "sqlite_" not in sql:
                target.execute(sql)
        target.executemany(insert("conversation", len(places[0])), places)
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    writer = threading.Thread(target=write, args=(path, waiting, rows, heads), daemon=True)
    writer.start()
    loop, count = asyncio.get_running_loop(), len(heads)
    numbers = iter(range(count))

    async def send(_until: float) -> None:
        for n in numbers:
            done = loop.create_future()
            waiting.put((n, loop, done))
            await done

    seconds = await at_once(send, SECONDS)
    waiting.put(None)
    await asyncio.to_thread(writer.join, 10)
    return count / seconds


def insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"


def write(path: Path, waiting: Any, rows: dict[str, list[Any]], heads: list[Any]) -> None:
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, cached_statements=64)
    for pragma in WRITER_PRAGMAS:
        connection.execute(pragma)
    texts = {table: insert(table, len(rows[table][0])) for table in TABLES}
    while True:
        batch = [waiting.get()]
        with contextlib.suppress(queue.Empty):
            while len(batch) < 256:
                batch.append(waiting.get_nowait())
        work = [item for item in batch if item is not None]
        connection.execute("BEGIN IMMEDIATE")
        for n, _, _ in work:
            for table in TABLES:
                connection.execute(texts[table], rows[table][n])
            connection.execute("UPDATE conversation SET head = ?, posts = ? WHERE id = ?",
                               (heads[n][0], n, heads[n][1]))  # fmt: skip
        connection.execute("COMMIT")
        for _, loop, done in work:
            loop.call_soon_threadsafe(done.set_result, None)
        if len(work) < len(batch):
            connection.close()
            return
