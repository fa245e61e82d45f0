"""The history in memory, and one that a third party's package brings, keep the same promises."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from teahouse.core.errors import SettingsError
from teahouse.llm.history import History, MemoryHistory, find_history
from teahouse.testing.contract.history import HistoryContract, say

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "history_jsonl"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example as pip installs it, on the path as long as this module runs."""
    place = tmp_path_factory.mktemp("site")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--disable-pip-version-check", "--target"),
            *(place, EXAMPLE),
        ],
        check=True,
        timeout=120,
    )
    sys.path.insert(0, str(place))
    yield place
    sys.path.remove(str(place))
    sys.modules.pop("teahouse_history_jsonl", None)


@pytest.mark.anyio
class TestMemory(HistoryContract):
    @pytest.fixture
    def history(self) -> History:
        return find_history("memory")


@pytest.mark.anyio
class TestThirdParty(HistoryContract):
    @pytest.fixture
    def history(self, installed: Path, tmp_path: Path) -> History:
        return find_history("jsonl", {"folder": tmp_path / "talks"})

    async def test_it_is_still_there_for_the_next_program(
        self, installed: Path, tmp_path: Path
    ) -> None:
        options = {"folder": tmp_path}
        await find_history("jsonl", options).append("c", [say("user", "stay")])

        assert list(await find_history("jsonl", options).load("c")) == [say("user", "stay")]


def test_an_unknown_one_is_refused_with_those_that_exist(installed: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        find_history("moon")

    assert caught.value.code == "history_unknown"
    assert caught.value.values["known"] == "jsonl, memory"


@pytest.mark.anyio
async def test_memory_forgets_the_oldest_turns_whole() -> None:
    history = MemoryHistory(messages=5)
    for number in range(4):
        await history.append("c", [say("user", f"q{number}"), say("assistant", f"a{number}")])

    assert [message.text for message in await history.load("c")] == ["q2", "a2", "q3", "a3"]


@pytest.mark.anyio
async def test_memory_keeps_a_latest_turn_that_is_too_long() -> None:
    history = MemoryHistory(messages=2)
    turn = [say("user", "q"), *(say("assistant", f"{n}") for n in range(4))]

    await history.append("c", turn)

    assert list(await history.load("c")) == turn


@pytest.mark.anyio
async def test_memory_forgets_the_conversation_that_was_silent_longest() -> None:
    history = MemoryHistory(conversations=2)
    for name in ("a", "b", "a", "c"):
        await history.append(name, [say("user", name)])

    assert [len(await history.load(name)) for name in ("a", "b", "c")] == [2, 0, 1]
