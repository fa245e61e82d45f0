"""Nothing waits for ever and nothing grows for ever, as far as the source can tell."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source import MODULES, Module, dotted

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
GROUP_CALLS = {"asyncio.TaskGroup()", "TaskGroup()"}
BARE_TASKS = {"asyncio.create_task", "asyncio.ensure_future", "asyncio.gather", "asyncio.wait_for"}
BLOCKING = {"time.sleep", "os.system", "os.popen"}
IN_A_THREAD = {"tools/sandbox/cgroup.py"}  # what waits there is called from the sandbox's own
MAY_MAKE_TASKS = {"core/tasks.py"}
MAY_WAIT = {"cli/agents.py": "a person's editor is open as long as they write"}
BOUNDED_OTHERWISE = {"store/writer.py": "a semaphore lets only so many callers in"}


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
    groups = {name for node in ast.walk(module.tree) for name in groups_in(node)}
    return [
        module.at(call)
        for name, call in module.calls()
        if name in BARE_TASKS
        or (name.endswith(".create_task") and name.removesuffix(".create_task") not in groups)
    ]


def groups_in(node: ast.AST) -> list[str]:
    """The names that hold a TaskGroup: opened by `async with`, or taken as an argument."""
    if isinstance(node, ast.AsyncWith):
        return [
            dotted(item.optional_vars)
            for item in node.items
            if item.optional_vars is not None and ast.unparse(item.context_expr) in GROUP_CALLS
        ]
    if isinstance(node, ast.arg) and node.annotation is not None:
        return [node.arg] if ast.unparse(node.annotation) == "asyncio.TaskGroup" else []
    return []


def has(call: ast.Call, keyword: str) -> bool:
    return any(given.arg in {keyword, None} for given in call.keywords)


def test_every_queue_is_bounded() -> None:
    places = [p for m in MODULES if m.name not in BOUNDED_OTHERWISE for p in unbounded_queues(m)]

    assert not places


def test_every_blocking_wait_has_a_deadline() -> None:
    places = [p for m in MODULES if m.name not in MAY_WAIT for p in waits_without_deadline(m)]

    assert not places


def test_every_task_has_an_owner() -> None:
    places = [p for m in MODULES if m.name not in MAY_MAKE_TASKS for p in bare_tasks(m)]

    assert not places


def test_nobody_sleeps_on_the_event_loop() -> None:
    places = [
        module.at(call)
        for module in MODULES
        if module.name not in IN_A_THREAD
        for name, call in module.calls()
        if name in BLOCKING
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
        (
            bare_tasks,
            "async def f():\n async with asyncio.TaskGroup() as both:\n  both.create_task(work())",
        ),
        (bare_tasks, "def f(group: asyncio.TaskGroup):\n group.create_task(work())\n"),
    ],
)
def test_the_checks_let_good_code_pass(check, source: str) -> None:  # type: ignore[no-untyped-def]
    assert not check(Module("x.py", source, ast.parse(source)))
