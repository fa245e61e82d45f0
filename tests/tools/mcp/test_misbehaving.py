"""What a server can do when it is broken or means harm: nothing to us, nor to its neighbours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import structs

from teahouse.core.messages import Text
from teahouse.tools.mcp.errors import McpFailed, ServerSaid
from teahouse.tools.mcp.settings import ServerSettings
from tests.tools.mcp.ground import HERE, QUICK, Ground, fake, ground

pytestmark = pytest.mark.anyio

SAID = (Text(text="tea"),)


async def neighbour_answers(here: Ground) -> None:
    """Nine times in a row, while the other one misbehaves."""
    await here.comes_to("ready", "good")
    for _ in range(9):
        assert await here.tool(server="good")({"text": "tea"}, HERE) == SAID


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("crash-at-start", "mcp_ended"),
        ("crash-soon", "mcp_ended"),
        ("not-a-server", "mcp_garbage"),
        ("wrong-version", "mcp_start"),
    ],
)
async def test_a_server_that_does_not_come_up_is_tried_again_and_again_and_harms_no_other(
    tmp_path: Path, way: str, code: str
) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake(way, tmp_path / "starts"), "good": fake("plain")})
        await here.until(lambda: here.status().state.failures >= 4)
        status = await here.comes_to("retrying")
        assert status.state.problem is not None
        assert status.state.problem.code == code
        assert status.state.retry_at is not None
        assert int((tmp_path / "starts").read_text()) >= 4
        await neighbour_answers(here)


async def test_the_reason_of_a_crash_is_what_the_server_said_last(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("crash-at-start")})
        status = await here.comes_to("retrying")
        assert status.state.problem is not None
        assert "status 3: no such kettle" in status.state.problem.message
        assert status.log[-1] == "no such kettle"


async def test_a_server_that_never_answers_is_given_up_after_its_time_and_begun_again(
    tmp_path: Path,
) -> None:
    async with ground(tmp_path, limits=structs.replace(QUICK, start_s=0.5)) as here:
        settings = fake("hang-at-start", tmp_path / "starts")
        await here.servers.apply({"fake": settings})
        await here.until(lambda: here.status().state.failures >= 2)
        status = await here.comes_to("retrying")
        assert status.state.problem is not None
        assert status.state.problem.code == "mcp_silent"


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": ServerSettings(command="no-such-program-here")})
        status = await here.comes_to("retrying")
        assert status.state.problem is not None
        assert "no-such-program-here" in status.state.problem.message


async def test_settings_that_name_no_way_to_a_server_fail_at_once_and_for_good(
    tmp_path: Path,
) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": ServerSettings()})
        status = await here.comes_to("failed")
        assert status.state.problem is not None
        assert status.state.problem.code == "mcp_settings"


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("crash-in-call", "mcp_ended"),
        ("too-much", "mcp_too_large"),
        ("garbage-answer", "mcp_garbage"),
        ("no-json-answer", "mcp_garbage"),
    ],
)
async def test_a_call_that_breaks_its_server_ends_with_the_reason_and_the_server_comes_again(
    tmp_path: Path, way: str, code: str
) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake(way, tmp_path / "starts"), "good": fake("plain")})
        await here.comes_to("ready")
        async with asyncio.TaskGroup() as group:
            group.create_task(neighbour_answers(here))
            with pytest.raises(McpFailed) as raised:
                await here.tool()({"text": "tea"}, HERE)
        assert raised.value.code == code
        if way != "garbage-answer":  # one wrong answer is no reason to begin again
            await here.until(lambda: int((tmp_path / "starts").read_text()) >= 2)
        await here.comes_to("ready")
        assert here.tool()


async def test_a_call_that_hangs_ends_at_its_deadline_and_others_go_on(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        hanging = fake("hang-in-call", timeout_s=0.5)
        await here.servers.apply({"fake": hanging, "good": fake("plain")})
        await here.comes_to("ready")
        async with asyncio.TaskGroup() as group:
            group.create_task(neighbour_answers(here))
            with pytest.raises(McpFailed) as raised:
                await here.tool()({}, HERE)
        assert raised.value.code == "mcp_timeout"


async def test_a_server_that_reads_nothing_cannot_hold_a_call_for_ever(tmp_path: Path) -> None:
    """Its pipe is full before the call is written, and the SDK's clock starts after that."""
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("stops-reading", timeout_s=0.5)})
        await here.comes_to("ready")
        with pytest.raises(McpFailed) as raised:
            await here.tool()({"text": "x" * (1 << 20)}, HERE)
        assert raised.value.code == "mcp_timeout"


async def test_a_flood_of_notifications_leaves_the_loop_to_others(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("floods"), "good": fake("plain")})
        await neighbour_answers(here)


async def test_a_flood_of_words_on_stderr_is_cut_and_the_server_works(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("floods-stderr")})
        status = await here.comes_to("ready")
        assert 0 < len(status.log) <= 200
        assert await here.tool()({"text": "tea"}, HERE) == SAID


async def test_a_greeting_on_stdout_is_passed_over(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("says-hello")})
        status = await here.comes_to("ready")
        assert status.log == ("Listening on stdio …",)
        assert await here.tool()({"text": "tea"}, HERE) == SAID


async def test_a_list_that_changes_all_the_time_is_never_called_and_harms_no_other(
    tmp_path: Path,
) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("changes"), "good": fake("plain")})
        await here.comes_to("ready")
        await here.until(lambda: [one.standing for one in here.status().tools] == ["changed"])
        await neighbour_answers(here)
        assert [tool.server for tool in here.servers.tools()] == ["good"]


async def test_of_two_tools_of_one_name_the_first_counts(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("twice")})
        status = await here.comes_to("ready")
        assert [one.description for one in status.tools] == ["Say it again."]
        assert status.unfit == {"echo": "twice"}


@pytest.mark.parametrize(
    ("way", "unfit"), [("huge-schema", {"big": "size"}), ("deep-schema", {"deep": "depth"})]
)
async def test_a_tool_that_no_model_could_be_shown_is_left_out_with_the_reason(
    tmp_path: Path, way: str, unfit: dict[str, str]
) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake(way)})
        status = await here.comes_to("ready")
        assert [one.tool for one in status.tools] == ["echo"]
        assert status.unfit == unfit


async def test_what_a_person_cannot_see_no_model_reads(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("hidden")})
        await here.comes_to("ready")
        description = here.tool().spec.description
        assert description.startswith("Say it. Now!")
        assert len(description) == 2_000


async def test_more_tools_than_anybody_wants_are_left_out(tmp_path: Path) -> None:
    async with ground(tmp_path, limits=structs.replace(QUICK, tools=3)) as here:
        await here.servers.apply({"fake": fake("odd-names")})
        status = await here.comes_to("ready")
        assert len(status.tools) == 3
        assert set(status.unfit.values()) == {"many"}


async def test_a_tool_that_says_it_failed_is_quoted(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("error")})
        await here.comes_to("ready")
        with pytest.raises(ServerSaid) as raised:
            await here.tool()({}, HERE)
        assert raised.value.text == "It is out of tea."


async def test_a_server_that_will_not_leave_is_ended(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("will-not-leave")})
        await here.comes_to("ready")
        await here.servers.apply({})
        assert here.servers.statuses() == ()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_what_a_server_started_ends_with_it_wherever_it_hid(tmp_path: Path) -> None:
    async with ground(tmp_path) as here:
        await here.servers.apply({"fake": fake("child-of-a-child", tmp_path / "starts")})
        await here.comes_to("ready")
        child = int((tmp_path / "starts.pid").read_text())
        assert is_alive(child)
        await here.servers.apply({})
        assert not is_alive(child)


OWNER = """
import asyncio, sys
from pathlib import Path
from tests.tools.mcp.ground import fake, ground

async def main():
    folder = Path(sys.argv[1])
    async with ground(folder) as here:
        await here.servers.apply({"fake": fake("child-of-a-child", folder / "starts")})
        await here.comes_to("ready")
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_when_the_house_is_killed_no_server_is_left(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    house = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER, str(tmp_path)),
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    try:
        assert house.stdout is not None
        async with asyncio.timeout(60):
            assert await house.stdout.readline() == b"ready\n"
        child = int((tmp_path / "starts.pid").read_text())
        assert is_alive(child)
        house.kill()
        await house.wait()
        async with asyncio.timeout(20):
            while is_alive(child):
                await asyncio.sleep(0.02)
    finally:
        with suppress(ProcessLookupError):
            house.send_signal(signal.SIGKILL)


async def test_a_server_is_stopped_even_in_the_moment_of_its_crash(tmp_path: Path) -> None:
    """The groups of the SDK then tell only of the crash, and our cancelling is lost."""
    async with ground(tmp_path) as here:
        ways = [f"crash-{number}" for number in range(24)]
        await here.servers.apply(dict.fromkeys(ways, fake("crash-in-call")))
        for way in ways:
            await here.comes_to("ready", way)

        async def crash(way: str) -> None:
            with pytest.raises(McpFailed):
                await here.tool(server=way)({}, HERE)

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number, way in enumerate(ways):
                group.create_task(crash(way))
                if number == len(ways) // 2:
                    await asyncio.sleep(0.02)
        async with asyncio.timeout(60):
            await here.servers.apply({})
