"""Clock, ids, randomness and the environment come in through one door each; so do event names."""

from __future__ import annotations

from teahouse.core.codec import KNOWN_EVENTS
from tests.architecture.source import MODULES, PROGRAMS, Module

WALL_CLOCK = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today"}
CHANCE = {"uuid.uuid4", "uuid.uuid1", "secrets.token_hex", "secrets.token_urlsafe", "os.urandom"}
EVENT_NAMES = {
    "stream_start",
    "stream_chunk",
    "part",
    "reply_done",
    "tool_call",
    "tool_result",
    "approval",
    "error",
    "stream_end",
    "post",
    "conversation",
    "resync",
}


def users(names: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for module in MODULES:
        places = [module.at(call) for name, call in module.calls() if name in names]
        if places:
            found[module.name] = places
    return found


def reads_environment(module: Module) -> bool:
    return "os.environ" in module.source or "os.getenv" in module.source


def test_the_wall_clock_is_read_in_core_alone() -> None:
    assert set(users(WALL_CLOCK)) <= {"core/clock.py", "core/ids.py"}


def test_ids_and_secrets_are_made_in_core_alone() -> None:
    found = users(CHANCE)
    found.pop("core/ids.py", None)

    assert not found


def test_the_environment_is_read_in_config_alone() -> None:
    readers = [
        module.name
        for module in MODULES
        if module.name not in PROGRAMS and reads_environment(module)
    ]

    assert all(name.startswith("config/") for name in readers), readers


def test_the_names_of_events_on_the_wire_stay_what_they_are() -> None:
    assert KNOWN_EVENTS == EVENT_NAMES
