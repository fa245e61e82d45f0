from __future__ import annotations

import asyncio

import pytest

from teahouse.chat.key_limits import MOST_REMEMBERED, WINDOW_S, KeyLimits
from teahouse.chat.keys import KNOWN_S, KnownKeys
from teahouse.chat.ports import ApiKey, Identity
from teahouse.core.errors import TooManyAttempts
from teahouse.core.messages import Person
from teahouse.testing.clock import FakeClock
from teahouse.testing.providers import Gate

pytestmark = pytest.mark.anyio

CLOCK = FakeClock()
MEI = Person(id="u_1", name="Mei", role="member", epoch=1, created_at=CLOCK.now())


class Rows:
    """A database with one key. `asked` counts what is read of it."""

    def __init__(self) -> None:
        self.found: Identity | None = Identity(MEI)
        self.asked = 0
        self.gate: Gate | None = None

    async def look_up(self, digest: bytes) -> Identity | None:
        self.asked += 1
        found = self.found if digest == b"1" else None
        if self.gate is not None:
            await self.gate.passed()
        return found


async def test_a_key_is_looked_up_once_a_minute() -> None:
    rows, clock = Rows(), FakeClock()
    known = KnownKeys(rows.look_up, clock)

    for _ in range(100):
        assert await known.get(b"1") == Identity(MEI)
    assert rows.asked == 1
    clock.advance(KNOWN_S)
    rows.found = None
    assert await known.get(b"1") is None


async def test_after_a_change_nothing_is_known_even_if_it_failed() -> None:
    rows = Rows()
    known = KnownKeys(rows.look_up, FakeClock())
    await known.get(b"1")

    def fail() -> None:
        with known.changing():
            rows.found = None
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        fail()
    assert await known.get(b"1") is None


async def test_what_was_read_before_a_change_is_not_remembered_after_it() -> None:
    rows = Rows()
    known = KnownKeys(rows.look_up, FakeClock())
    rows.gate = Gate()

    async with asyncio.TaskGroup() as group:
        early = group.create_task(known.get(b"1"))
        async with asyncio.timeout(10):
            await rows.gate.reached.wait()
        with known.changing():
            rows.found = None
        rows.gate.open()

    assert early.result() == Identity(MEI)
    rows.gate = None
    assert await known.get(b"1") is None


async def test_guesses_are_not_remembered() -> None:
    rows = Rows()
    known = KnownKeys(rows.look_up, FakeClock())

    for number in range(50):
        assert await known.get(b"%d" % (number + 2)) is None
        assert await known.get(b"%d" % (number + 2)) is None
    assert rows.asked == 100


def key_of(name: str = "k_1", rate: int | None = None, concurrent: int | None = None) -> ApiKey:
    return ApiKey(
        id=name,
        name=name,
        key_hash=name.encode(),
        person=MEI.id,
        created_at=MEI.created_at,
        rate=rate,
        concurrent=concurrent,
    )


async def test_a_key_makes_so_many_requests_within_any_minute() -> None:
    clock = FakeClock()
    limits = KeyLimits(clock)
    for _ in range(2):
        async with limits.pass_key(key_of(rate=2)):
            pass
        clock.advance(20)

    for _ in range(5):  # refused ones count for nothing
        with pytest.raises(TooManyAttempts) as caught:
            async with limits.pass_key(key_of(rate=2)):
                raise AssertionError
    assert (caught.value.code, caught.value.retry_after_s) == ("key_rate", WINDOW_S - 40)
    async with limits.pass_key(key_of("k_2", rate=2)):
        pass
    clock.advance(caught.value.retry_after_s)
    async with limits.pass_key(key_of(rate=2)):
        pass
    with pytest.raises(TooManyAttempts):
        async with limits.pass_key(key_of(rate=2)):
            raise AssertionError


async def test_a_key_has_so_many_requests_running_and_one_that_fails_has_ended() -> None:
    limits = KeyLimits(FakeClock())
    key = key_of(concurrent=2)

    async def fail() -> None:
        async with limits.pass_key(key):
            raise OSError("disk")

    async with limits.pass_key(key):
        with pytest.raises(OSError, match="disk"):
            await fail()
        async with limits.pass_key(key):
            with pytest.raises(TooManyAttempts) as caught:
                await fail()
    assert caught.value.code == "key_concurrent"
    assert caught.value.retry_after_s >= 1
    async with limits.pass_key(key), limits.pass_key(key):
        pass


async def test_a_lower_rate_counts_what_was_begun_before() -> None:
    limits = KeyLimits(FakeClock())
    for _ in range(5):
        async with limits.pass_key(key_of(rate=10)):
            pass

    with pytest.raises(TooManyAttempts):
        async with limits.pass_key(key_of(rate=5)):
            raise AssertionError


async def test_keys_that_rest_are_forgotten_and_the_others_are_not() -> None:
    clock = FakeClock()
    limits = KeyLimits(clock)
    async with limits.pass_key(key_of("k_busy", concurrent=1)):
        for number in range(MOST_REMEMBERED):
            async with limits.pass_key(key_of(f"k_{number}", rate=1)):
                pass
        clock.advance(WINDOW_S)
        async with limits.pass_key(key_of("k_new", rate=1)):
            pass
        assert len(limits._uses) == 2
        with pytest.raises(TooManyAttempts):
            async with limits.pass_key(key_of("k_busy", concurrent=1)):
                raise AssertionError


async def test_what_has_no_limits_passes_and_leaves_no_trace() -> None:
    limits = KeyLimits(FakeClock())

    async with limits.pass_key(None), limits.pass_key(key_of()):
        assert not limits._uses
