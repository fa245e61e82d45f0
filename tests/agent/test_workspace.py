from __future__ import annotations

import os
from pathlib import Path

import pytest

from teahouse.agent.directory import free_hue
from teahouse.agent.workspace import Workspaces, folder_name
from teahouse.core.errors import Invalid, NotFound, TooLarge

SOUL = "# 掌柜\n\n你是这家茶馆的掌柜，待人温和，做事踏实：先听明白，再直说。\n"


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    workspaces = Workspaces(tmp_path)
    workspaces.create("掌柜", SOUL)
    return workspaces


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_soul_saved_by_any_editor_is_read(
    workspaces: Workspaces, tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "掌柜" / "SOUL.md").write_bytes(SOUL.encode(encoding))

    assert workspaces.soul("掌柜") == SOUL


def test_a_short_gb18030_soul_is_read_too(workspaces: Workspaces, tmp_path: Path) -> None:
    (tmp_path / "掌柜" / "SOUL.md").write_bytes("你是掌柜".encode("gb18030"))

    assert workspaces.soul("掌柜") == "你是掌柜"


def test_a_soul_that_is_gone_says_where_it_should_be(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    (tmp_path / "掌柜" / "SOUL.md").unlink()

    with pytest.raises(NotFound, match=r"SOUL\.md"):
        workspaces.soul("掌柜")


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "circle"])
def test_what_is_no_plain_file_is_no_soul_and_keeps_nobody_waiting(
    workspaces: Workspaces, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "掌柜" / "SOUL.md"
    path.unlink()
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.symlink_to(path)

    with pytest.raises(Invalid, match=r"SOUL\.md"):
        workspaces.soul("掌柜")


def test_a_soul_that_cannot_be_written_says_so_and_leaves_nothing_behind(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    folder = tmp_path / "掌柜"
    (folder / "SOUL.md").unlink()
    (folder / "SOUL.md").mkdir()

    with pytest.raises(Invalid, match=r"SOUL\.md"):
        workspaces.write_soul("掌柜", SOUL)

    assert sorted(path.name for path in folder.iterdir()) == ["SOUL.md", "files"]


def test_an_agent_that_cannot_be_made_leaves_no_folder(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    with pytest.raises(TooLarge):
        workspaces.create("Host", "x" * 300_000)

    assert not (tmp_path / "Host").exists()


def test_a_huge_soul_is_refused(workspaces: Workspaces) -> None:
    with pytest.raises(TooLarge):
        workspaces.write_soul("掌柜", "x" * 300_000)

    assert workspaces.soul("掌柜") == SOUL


@pytest.mark.parametrize("name", ["..", ".", "", "../x", "a/b", "/etc"])
def test_no_name_leads_out_of_the_agents_folder(workspaces: Workspaces, name: str) -> None:
    with pytest.raises(Invalid):
        workspaces.soul(name)


@pytest.mark.parametrize(
    ("name", "folder"),
    [("掌柜", "掌柜"), ("../../etc", "etc"), ("a/b:c", "a-b-c"), ("...", "agent"), ("Con.", "Con")],
)
def test_folder_names_are_safe_everywhere(name: str, folder: str) -> None:
    assert folder_name(name, set()) == folder


def test_two_agents_of_one_name_get_two_folders() -> None:
    assert folder_name("Host", {"host", "Host-2"}) == "Host-3"


def test_hues_differ_until_all_are_taken() -> None:
    taken: list[int] = []
    for name in "abcdefghij":
        taken.append(free_hue(name, taken))

    assert sorted(taken) == list(range(10))
    assert 0 <= free_hue("k", taken) < 10
