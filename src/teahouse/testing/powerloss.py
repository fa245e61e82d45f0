"""Cuts the power in thousands of ways and looks whether an acknowledged post got lost.

    python -m teahouse.testing.powerloss [--states 10000] [--synchronous FULL|NORMAL]

A scripted session runs through the real store, whose SQLite writes to a recording disk. Then, for
random moments of it, the disk is put together as a power cut could leave it, opened, checked, and
compared with what had been acknowledged by then. Two settings differ from the real ones: the log
is checkpointed every 50 pages instead of 1,000, so that a short session has many checkpoints, and
`synchronous` is what is asked for. Exit code 0: nothing was lost, 1: something was. Without
`--synchronous` both are tried, and NORMAL must show losses: that is how one knows that FULL's
clean sheet means something.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
from pathlib import Path
from typing import Literal, TypeAlias

import apsw
from msgspec import Struct

from teahouse.chat.ports import Conversation, Received
from teahouse.core.messages import Person
from teahouse.store.home import DATABASE, open_store
from teahouse.testing.clock import FakeClock
from teahouse.testing.contract.store_house import CALL_RESULT, CALLED, House
from teahouse.testing.recording_disk import Acknowledged, Disk, Operation, RecordingDriver, rows

Synchronous: TypeAlias = Literal["FULL", "NORMAL"]
_ROUNDS = 12
_SENDERS = 8

_FACTS = """
SELECT 'conversation:' || id FROM conversation
UNION ALL SELECT 'post:' || id FROM post
UNION ALL SELECT 'run:' || id FROM run
UNION ALL SELECT 'ended:' || id FROM run WHERE ended_at IS NOT NULL
UNION ALL SELECT 'step:' || run || ':' || number FROM step
UNION ALL SELECT 'secret:' || name FROM secret
"""
# Rows that lack what was written in the same transaction.
_HALVES = """
SELECT id FROM conversation AS c
WHERE posts <> (SELECT count(*) FROM post WHERE conversation = c.id)
   OR head IS NOT (SELECT id FROM post WHERE conversation = c.id ORDER BY position DESC LIMIT 1)
UNION ALL SELECT id FROM post WHERE run IS NULL AND id NOT IN (SELECT "trigger" FROM run)
UNION ALL SELECT id FROM run
WHERE ended_at IS NOT NULL AND coalesce(post, '') NOT IN (SELECT id FROM post)
UNION ALL SELECT "table" FROM pragma_foreign_key_check
"""


class Outcome(Struct):
    """How many of the states were whole, and of the others what was wrong with them."""

    states: int = 0
    corrupt: int = 0  # SQLite itself finds the database damaged
    torn: int = 0  # half of what belongs together is there
    lost: int = 0  # something acknowledged is missing
    worst: int = 0  # how many acknowledged facts are missing in the worst state

    @property
    def clean(self) -> bool:
        return not (self.corrupt or self.torn or self.lost)


class Session:
    """A day in a small house. After each acknowledgement the facts are put on record."""

    def __init__(self, house: House, operations: list[Operation], seed: int) -> None:
        self._house, self._operations = house, operations
        self._chance = random.Random(seed)  # noqa: S311  a script, no secret

    async def play(self) -> None:
        mei = await self._house.person()
        talks = [await self._house.talk(mei) for _ in range(_SENDERS)]
        for talk in talks:
            self._note({f"conversation:{talk.id}": True})
        for number in range(_ROUNDS):
            await self._speak(talks[0], mei)
            async with asyncio.TaskGroup() as group:
                for talk in talks:
                    group.create_task(self._speak(talk, mei))
            await self._work()
            await self._house.store.secrets.put(f"s{number}", "x" * 40)
            self._note({f"secret:s{number}": True})
            if number % 4 == 3:
                await self._stop_one(talks[-1], mei)
                await self._forget(talks.pop(), mei)

    def _note(self, facts: dict[str, bool | None]) -> None:
        self._operations.append(Acknowledged(facts))

    async def _speak(self, talk: Conversation, person: Person) -> Received:
        text = "茶" * self._chance.randint(3, 900)
        received = await self._house.say(talk, person, text)
        self._note({f"post:{received.post.id}": True, f"run:{received.runs[0].id}": True})
        return received

    async def _work(self) -> None:
        for lease in await self._house.store.queue.lease(_SENDERS):
            run, queue = lease.run, self._house.store.queue
            for number, step in enumerate((CALLED, CALL_RESULT), 1):
                await queue.append(run.id, run.attempt, step)
                self._note({f"step:{run.id}:{number}": True})
            reply = self._house.reply(run, "答" * self._chance.randint(3, 900))
            await queue.finish(run.id, run.attempt, reply, "done")
            self._note({f"post:{reply.id}": True, f"ended:{run.id}": True})

    async def _stop_one(self, talk: Conversation, person: Person) -> None:
        received = await self._speak(talk, person)
        run = await self._house.store.log.ask_stop(person.id, received.runs[0].id)
        self._note({f"ended:{run.id}": True, f"post:{run.post}": True})

    async def _forget(self, talk: Conversation, person: Person) -> None:
        """While a conversation is being deleted it may be there or not; afterwards it is not."""
        log = self._house.store.log
        posts = (await log.posts(person.id, talk.id, limit=500)).items
        facts = [f"conversation:{talk.id}", *(f"post:{post.id}" for post in posts)]
        for post in posts:
            if post.run is not None:
                facts += [f"run:{post.run}", f"ended:{post.run}"]
                facts += [f"step:{post.run}:{number}" for number in (1, 2)]
        self._note(dict.fromkeys(facts))
        await log.delete(person.id, talk.id)
        self._note(dict.fromkeys(facts, False))


async def record(synchronous: Synchronous, seed: int) -> list[Operation]:
    """Play the session on a recording disk; return all that the disk was told to do."""
    operations: list[Operation] = []
    replace = {
        "PRAGMA synchronous=FULL": f"PRAGMA synchronous={synchronous}",
        "PRAGMA wal_autocheckpoint=1000": "PRAGMA wal_autocheckpoint=50",
    }
    driver = RecordingDriver(f"recording-{seed}-{synchronous}", operations, replace)
    clock = FakeClock()
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(Path(folder), clock, driver) as store:
            await Session(House(store, clock), operations, seed).play()
            recorded = list(operations)  # what closing does is not of interest
    assert driver.replaced == set(replace), "the store no longer sets what is to be replaced"
    return recorded


def cut(operations: list[Operation], states: int, seed: int) -> Outcome:
    """Cut the power at `states` random moments after the first acknowledgement."""
    chance = random.Random(seed)  # noqa: S311
    first = next(n for n, op in enumerate(operations) if isinstance(op, Acknowledged))
    moments = sorted(chance.randint(first, len(operations)) for _ in range(states))
    disk, played, outcome = Disk(), 0, Outcome()
    memory = Path("/dev/shm")  # noqa: S108  thousands of small databases: not on the disk, please
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        for moment in moments:
            for operation in operations[played:moment]:
                disk.play(operation)
            played = moment
            _judge(disk, chance, Path(folder), outcome)
    return outcome


def _judge(disk: Disk, chance: random.Random, folder: Path, outcome: Outcome) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, data in disk.after_power_cut(chance).items():
        (folder / name).write_bytes(data)
    outcome.states += 1
    try:
        with contextlib.closing(apsw.Connection(str(folder / DATABASE))) as connection:
            sound = rows(connection, "PRAGMA quick_check") == [("ok",)]
            present = _facts(connection) if sound else set[str]()
            whole = sound and not rows(connection, _HALVES)
    except apsw.Error:
        sound, present, whole = False, set[str](), False
    if not sound:
        outcome.corrupt += 1
    elif not whole:
        outcome.torn += 1
    else:
        wrong = [
            fact
            for fact, there in disk.facts.items()
            if there is not None and (fact in present) != there
        ]
        outcome.lost += bool(wrong)
        outcome.worst = max(outcome.worst, len(wrong))


def _facts(connection: apsw.Connection) -> set[str]:
    return {row[0] for row in rows(connection, _FACTS)}


def run(synchronous: Synchronous, states: int, seed: int = 7) -> Outcome:
    return cut(asyncio.run(record(synchronous, seed)), states, seed)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m teahouse.testing.powerloss")
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--synchronous", choices=("FULL", "NORMAL"))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    if options.synchronous:
        return 0 if _report(options.synchronous, options.states, options.seed).clean else 1
    full = _report("FULL", options.states, options.seed)
    normal = _report("NORMAL", max(300, options.states // 10), options.seed)
    return 0 if full.clean and normal.lost else 1


def _report(synchronous: Synchronous, states: int, seed: int) -> Outcome:
    found = run(synchronous, states, seed)
    print(
        f"synchronous={synchronous}: {found.states} power cuts, {found.corrupt} corrupt, "
        f"{found.torn} torn, {found.lost} with acknowledged facts lost (worst {found.worst})",
        flush=True,
    )
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
