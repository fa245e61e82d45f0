"""What the commands say of themselves, and how little that takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from teahouse.cli import overview
from teahouse.cli.main import application, run
from teahouse.cli.ports import Address, LocalModel
from teahouse.core import i18n

HEAVY = (
    "aiohttp",
    "alembic",
    "argon2",
    "asyncio",
    "cryptography",
    "litestar",
    "msgspec",
    "prompt_toolkit",
    "rich",
    "sqlalchemy",
    "teahouse.app",
    "teahouse.chat",
    "teahouse.llm",
    "teahouse.server",
    "tomlkit",
    "typer",
    "uvicorn",
    "xllamacpp",
)
LOOK = """
import sys
sys.argv = ["teahouse", "--help"]
from teahouse.__main__ import main
main()
loaded = sorted(sys.modules)
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(*loaded, peak, file=sys.stderr)
"""
MOST_KB = 40 << 10


class Nowhere:
    """A host whose home nobody opens."""

    def home(self, flag: Path | None, /) -> Path:
        return flag or Path("/nowhere")

    def language(self, home: Path, /) -> i18n.Language:
        return "en-US"

    def surroundings(self) -> Any:
        class Plain:
            color, display, editor = False, False, None

        return Plain()

    def settings_file(self, home: Path, /) -> Path:
        return home / "config.toml"

    def address(self, home: Path, /) -> Address:
        return Address("127.0.0.1", 1)

    def local_model(self, home: Path, /) -> LocalModel:
        return LocalModel(False, "none", home)

    undo_settings = run_server = open_local = check_store = page_is_built = None


def commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []

    def walk(command: Any, path: tuple[str, ...]) -> None:
        if isinstance(command, TyperGroup):
            for name, below in command.commands.items():
                walk(below, (*path, name))
        else:
            found.append(path)

    walk(typer.main.get_command(application()), ())
    return found


def call(
    capsys: pytest.CaptureFixture[str], language: i18n.Language, *arguments: str
) -> tuple[int, str, str]:
    code = run(Nowhere(), arguments, language)  # pyright: ignore[reportArgumentType]
    out, err = capsys.readouterr()
    return code, out, err


def test_help_loads_no_server_no_sdk_and_not_even_typer() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    *loaded, peak_kb = done.stderr.split()

    assert "teahouse" in done.stdout
    assert "teahouse.cli.overview" in loaded
    assert not set(HEAVY) & set(loaded)
    assert int(peak_kb) < MOST_KB


def test_the_overview_names_every_command_and_no_other() -> None:
    group = typer.main.get_command(application())
    assert isinstance(group, TyperGroup)

    assert set(group.commands) == set(overview.COMMANDS)
    options = {name.split()[0] for name, _ in overview.OPTIONS}
    known = {each for parameter in group.params for each in parameter.opts}
    assert options == known | {"--help"}


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_every_command_explains_itself_and_takes_home_and_json(
    capsys: pytest.CaptureFixture[str], language: i18n.Language, path: tuple[str, ...]
) -> None:
    code, out, _ = call(capsys, language, *path, "--help")

    assert code == 0
    assert i18n.text(language, f"cli.command.{'.'.join(path)}") in out
    assert "--home PATH" in out
    assert "--json" in out
    for line in re.findall(r"^  (?:-|[A-Z]{2}).*$", out, re.MULTILINE):
        assert re.match(r"  \S.*?  +\S", line), f"nothing is said of {line}"


@pytest.mark.parametrize("group", [c for c in overview.COMMANDS if c != "serve"])
def test_every_group_lists_its_commands(capsys: pytest.CaptureFixture[str], group: str) -> None:
    code, out, _ = call(capsys, "zh-CN", group, "--help")

    assert code == 0
    assert out.startswith("用法：teahouse ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sevre",), "serve"),
        (("agents", "lst"), "list"),
        (("ask", "--modle", "x"), "--modle"),
        (("serve", "--port", "many"), "0 … 65535"),
        (("serve", "--port", "65536"), "0 … 65535"),
        (("people", "add", "Ana", "--role", "boss"), "admin|member|guest"),
        (("keys", "create"), "NAME"),
        (("people", "add"), "NAME"),
        (("ask", "--model"), "--model"),
    ],
)
@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_a_wrong_call_is_told_in_the_readers_language_and_leaves_with_2(
    capsys: pytest.CaptureFixture[str],
    language: i18n.Language,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    code, out, err = call(capsys, language, *arguments)

    assert (code, out) == (2, "")
    assert said in err
    assert i18n.text(language, "cli.usage.hint", command="teahouse")[:3] in err


def test_a_group_alone_shows_what_it_has_and_leaves_with_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = call(capsys, "en-US", "agents")

    assert (code, out) == (2, "")
    assert "remove" in err


def test_home_and_json_may_stand_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "en-US", "--home", "/a", "--json", "config", "path")

    assert (code, out) == (0, '{"path":"/a/config.toml","exists":false}\n')


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "en-US", "--version")[1].startswith("teahouse 0.")
