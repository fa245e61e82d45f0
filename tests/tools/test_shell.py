"""The tools `exec` and `python`, in a real sandbox."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import JsonObject, Text
from teahouse.llm.tool import ToolContext
from teahouse.tools.python import Python
from teahouse.tools.sandbox.command import Limits, Stream
from teahouse.tools.sandbox.runner import Sandbox
from teahouse.tools.shell import Exec, Seat

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="Linux only"),
]
SANDBOX = Sandbox()


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    return Seat(sandbox=SANDBOX, workspace=lambda _: tmp_path)


async def said(tool: Exec | Python, **arguments: object) -> str:
    call: JsonObject = dict(arguments)
    (part,) = await tool(call, ToolContext())
    assert isinstance(part, Text)
    return part.text


async def test_exec_tells_the_status_and_both_streams(seat: Seat) -> None:
    text = await said(Exec(seat), command="echo tea; echo hot >&2; exit 3")

    assert text == "Exit status 3.\nstdout:\ntea\n\nstderr:\nhot\n"


async def test_exec_says_that_nothing_was_printed(seat: Seat) -> None:
    assert await said(Exec(seat), command="true") == "Exit status 0.\nIt printed nothing."


async def test_exec_knows_pipes_and_keeps_files(seat: Seat, tmp_path: Path) -> None:
    text = await said(Exec(seat), command="printf '3\\n1\\n2\\n' | sort > sorted && cat sorted")

    assert "1\n2\n3" in text
    assert (tmp_path / "sorted").read_text() == "1\n2\n3\n"


async def test_exec_stops_what_takes_too_long(seat: Seat) -> None:
    text = await said(Exec(seat), command="echo early; sleep 60", timeout_s=0.5)

    assert text.startswith("Stopped: it ran longer than 0.5 seconds.")
    assert "early" in text


async def test_a_long_output_is_shown_cut_and_kept_whole(seat: Seat, tmp_path: Path) -> None:
    text = await said(Exec(seat), command="seq 20000")

    assert "characters are not shown" in text
    assert len(text) < 20_000
    (file,) = (tmp_path / "output").iterdir()
    assert f"it is kept in output/{file.name}." in text
    assert file.read_text() == "".join(f"{number}\n" for number in range(1, 20_001))


async def test_keeping_a_long_output_follows_no_link_out(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / "output").symlink_to(outside)
    seat = Seat(sandbox=SANDBOX, workspace=lambda _: workspace)

    text = await said(Exec(seat), command="seq 20000")

    assert "could not be kept" in text
    assert not list(outside.iterdir())


async def test_what_was_not_kept_is_said(tmp_path: Path) -> None:
    limits = Limits(kept_output=1000)
    seat = Seat(sandbox=SANDBOX, workspace=lambda _: tmp_path, limits=limits)

    text = await said(Exec(seat), command="yes | head -c 5000")

    assert "without 4,000 bytes more that it printed" in text


async def test_output_is_told_live_and_never_in_half_characters(tmp_path: Path) -> None:
    heard: list[tuple[Stream, str]] = []
    seat = Seat(
        sandbox=SANDBOX,
        workspace=lambda _: tmp_path,
        live=lambda _, stream, text: heard.append((stream, text)),
    )

    command = "printf '\\350\\214'; sleep 0.2; printf '\\266'"
    text = await said(Exec(seat), command=command)

    assert heard == [("stdout", "茶")]
    assert text.endswith("茶")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": "a\0b"},
        {"command": "x" * 60_001},
        {"command": "true", "timeout_s": 0},
        {"command": "true", "timeout_s": 601},
        {"command": "true", "shell": "zsh"},
        {"command": ["true"]},
    ],
)
async def test_exec_takes_no_other_arguments(seat: Seat, arguments: JsonObject) -> None:
    with pytest.raises(ToolFailed):
        await Exec(seat)(arguments, ToolContext())


async def test_exec_says_where_no_wall_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    seat = Seat(sandbox=Sandbox(), workspace=lambda _: tmp_path)

    with pytest.raises(ToolFailed, match="Linux only"):
        await Exec(seat)({"command": "touch ran"}, ToolContext())
    assert not (tmp_path / "ran").exists()


async def test_python_tells_the_value_of_the_last_expression(seat: Seat) -> None:
    text = await said(Python(seat), code="import math\nprint('a')\nmath.comb(5, 2), '茶'")

    assert text == "Exit status 0.\nstdout:\na\n(10, '茶')\n"


@pytest.mark.parametrize("code", ["x = 1", "None", "# nothing", "def f(): return 1"])
async def test_python_prints_no_value_where_there_is_none(seat: Seat, code: str) -> None:
    assert await said(Python(seat), code=code) == "Exit status 0.\nIt printed nothing."


async def test_python_shows_the_line_that_failed_and_nothing_of_ours(seat: Seat) -> None:
    text = await said(Python(seat), code="def tea():\n    return 1 / 0\n\ntea()")

    assert text.startswith("Exit status 1.\nstderr:\nTraceback")
    assert "return 1 / 0" in text
    assert "ZeroDivisionError" in text
    assert "snippet" not in text
    assert "eval" not in text


async def test_python_says_where_the_grammar_is_wrong(seat: Seat) -> None:
    text = await said(Python(seat), code="a = 1\nb = = 2\n")

    assert 'File "<python>", line 2' in text
    assert "SyntaxError" in text


async def test_python_keeps_the_status_of_an_exit(seat: Seat) -> None:
    assert (await said(Python(seat), code="import sys; sys.exit(4)")).startswith("Exit status 4.")


async def test_python_gets_no_input(seat: Seat) -> None:
    assert "EOFError" in await said(Python(seat), code="input()", timeout_s=10)


async def test_python_reads_modules_and_files_of_the_workspace(seat: Seat, tmp_path: Path) -> None:
    (tmp_path / "tea.py").write_text("NAME = 'oolong'\n")
    (tmp_path / "data.txt").write_text("data")

    text = await said(Python(seat), code="import tea\ntea.NAME + open('data.txt').read()")

    assert "'oolongdata'" in text


async def test_python_takes_code_longer_than_an_argument_may_be(seat: Seat) -> None:
    text = await said(Python(seat), code=f"len({'x' * 500_000!r})")

    assert "500000" in text


async def test_python_runs_in_no_process_of_ours(seat: Seat, tmp_path: Path) -> None:
    (tmp_path.parent / "secret").write_text("secret")

    text = await said(Python(seat), code="open('../secret').read()")

    assert "FileNotFoundError" in text or "PermissionError" in text
