"""Nothing waits for ever and nothing grows for ever, as far as the source can tell."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source import MODULES, Module

QUEUES = {"asyncio.Queue", "asyncio.LifoQueue", "asyncio.PriorityQueue", "queue.Queue", "Queue"}
ENDLESS_QUEUES = {"queue.SimpleQueue", "SimpleQueue"}
NEEDS_TIMEOUT = {
    "subprocess.run",
    "subprocess.check_call",
    "subprocess.check_output",
    "urllib.request.urlopen",
    "urlopen",
    "socket.create_connection",
    "aiohttp.ClientSession",
    "ClientSession",
    "sqlite3.connect",
}
BARE_TASKS = {"asyncio.create_task", "asyncio.ensure_future", "asyncio.gather", "asyncio.wait_for"}
BLOCKING = {"time.sleep", "os.system", "os.popen"}
MAY_MAKE_TASKS = {"core/tasks.py"}


def unbounded_queues(module: Module) -> list[str]:
    return [
        module.at(call)
        for name, call in module.calls()
        if name in ENDLESS_QUEUES or (name in QUEUES and not call.args and not has(call, "maxsize"))
    ]


def waits_without_deadline(module: Module) -> list[str]:
    return [
        module.at(call)
        for name, call in module.calls()
        if name in NEEDS_TIMEOUT and not has(call, "timeout")
    ]


def bare_tasks(module: Module) -> list[str]:
    found = [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in {"create_task", "ensure_future"}
    ]
    in_a_group = {
        id(node)
        for node in found
        if isinstance(node.value, ast.Name) and node.value.id in {"group", "tasks"}
    }
    return [
        *(module.at(node) for node in found if id(node) not in in_a_group),
        *(module.at(call) for name, call in module.calls() if name in BARE_TASKS),
    ]


def has(call: ast.Call, keyword: str) -> bool:
    return any(given.arg in {keyword, None} for given in call.keywords)


def test_every_queue_is_bounded() -> None:
    assert not [place for module in MODULES for place in unbounded_queues(module)]


def test_every_blocking_wait_has_a_deadline() -> None:
    assert not [place for module in MODULES for place in waits_without_deadline(module)]


def test_every_task_has_an_owner() -> None:
    places = [p for m in MODULES if m.name not in MAY_MAKE_TASKS for p in bare_tasks(m)]

    assert not places


def test_nobody_sleeps_on_the_event_loop() -> None:
    places = [
        module.at(call) for module in MODULES for name, call in module.calls() if name in BLOCKING
    ]

    assert not places


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (unbounded_queues, "import asyncio\nq = asyncio.Queue()\n"),
        (unbounded_queues, "import queue\nq = queue.SimpleQueue()\n"),
        (waits_without_deadline, "import subprocess\nsubprocess.run(['true'])\n"),
        (bare_tasks, "import asyncio\nasyncio.create_task(work())\n"),
        (bare_tasks, "loop.create_task(work())\n"),
    ],
)
def test_the_checks_can_fail(check, source: str) -> None:  # type: ignore[no-untyped-def]
    assert check(Module("x.py", source, ast.parse(source)))


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (unbounded_queues, "q = asyncio.Queue(8)\nr = asyncio.Queue(maxsize=8)\n"),
        (waits_without_deadline, "subprocess.run(['true'], timeout=5)\n"),
        (bare_tasks, "group.create_task(work())\n"),
    ],
)
def test_the_checks_let_good_code_pass(check, source: str) -> None:  # type: ignore[no-untyped-def]
    assert not check(Module("x.py", source, ast.parse(source)))
