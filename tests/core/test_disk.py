from __future__ import annotations

import errno
from pathlib import Path

import pytest

from teahouse.core.disk import refused_by_disk, replace_file
from teahouse.core.errors import StorageFull


def test_a_file_is_replaced_for_its_owner_alone_and_leaves_nothing_beside_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "word"
    file.write_text("old")

    replace_file(file, b"new")

    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["word"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)

    replace_file(link, b"new")

    assert (link.read_text(), target.read_text()) == ("new", "old")


def test_what_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    folder = tmp_path / "taken"
    folder.mkdir()
    (folder / "inside").touch()

    with pytest.raises(OSError, match="taken"):
        replace_file(folder, b"new")

    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_only_a_disk_that_takes_no_more_is_called_full() -> None:
    with pytest.raises(StorageFull), refused_by_disk():
        raise OSError(errno.EDQUOT, "quota")
    with pytest.raises(PermissionError), refused_by_disk():
        raise PermissionError(errno.EACCES, "closed")
