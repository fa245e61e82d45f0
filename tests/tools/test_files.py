from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import Text
from teahouse.llm.tool import ToolContext
from teahouse.tools.files import file_tools

pytestmark = pytest.mark.anyio


async def call(root: Path, name: str, **arguments: Any) -> str:
    tools = {tool.spec.name: tool for tool in file_tools(lambda context: root)}
    (part,) = await tools[name](arguments, ToolContext())
    assert isinstance(part, Text)
    return part.text


async def refusal(root: Path, name: str, **arguments: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        await call(root, name, **arguments)
    return failed.value.text


def test_every_parameter_is_described_to_the_model() -> None:
    for tool in file_tools(lambda context: Path()):
        assert tool.spec.description
        for parameter in tool.spec.parameters["properties"].values():
            assert parameter["description"]
        assert "context" not in tool.spec.parameters["properties"]


async def test_what_was_written_is_read_edited_and_found(tmp_path: Path) -> None:
    assert "Made notes/茶.md" in await call(
        tmp_path, "write_file", path="notes/茶.md", content="Oolong\n龙井\n"
    )
    await call(tmp_path, "edit_file", path="notes/茶.md", old="龙井", new="普洱")

    assert await call(tmp_path, "read_file", path="notes/茶.md") == "Oolong\n普洱\n"
    assert await call(tmp_path, "search_files", text="OOLONG") == "notes/茶.md:1: Oolong"
    assert await call(tmp_path, "search_files", text="普洱", path="notes") == "茶.md:2: 普洱"
    assert "none of the files" in await call(tmp_path, "search_files", text="普洱", names="*.txt")
    assert await call(tmp_path, "list_dir") == "notes/"
    assert await call(tmp_path, "list_dir", path="notes") == "茶.md (14 bytes)"


async def test_a_file_is_read_in_parts_and_says_which(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"{number}\n" for number in range(1, 11)))

    told = await call(tmp_path, "read_file", path="a", line=4, lines=2)

    assert told == "4\n5\n\n[a: lines 4 to 5 of 10]"
    assert "lines 11 to 10 of 10" in await call(tmp_path, "read_file", path="a", line=11)
    assert await call(tmp_path, "write_file", path="b", content="") == "Made b: 0 bytes."
    assert "empty" in await call(tmp_path, "read_file", path="b")


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("gb18030", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe")],
)
async def test_an_edit_keeps_the_encoding_the_mark_and_the_line_ends(
    tmp_path: Path, encoding: str, mark: bytes
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(mark + "今天喝茶\r\n明天也喝茶\r\n".encode(encoding))

    assert "今天喝茶" in await call(tmp_path, "read_file", path="a.txt")
    await call(tmp_path, "edit_file", path="a.txt", old="喝茶\n明天", new="喝水\n后天")

    assert file.read_bytes() == mark + "今天喝水\r\n后天也喝茶\r\n".encode(encoding)


async def test_the_model_is_told_of_an_encoding_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("你好".encode("gb18030"))
    assert "[a: encoding gb18030]" in await call(tmp_path, "read_file", path="a")


async def test_an_edit_that_is_not_clear_says_how_many_places_there_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("tea tea tea")

    assert "3 times" in await refusal(tmp_path, "edit_file", path="a", old="tea", new="x")
    assert "does not stand" in await refusal(tmp_path, "edit_file", path="a", old="Tea", new="x")
    assert (tmp_path / "a").read_text() == "tea tea tea"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0", bytes(range(256)), b"\x01\x02\x03"])
async def test_a_binary_file_is_no_text(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)

    assert "not a text file" in await refusal(tmp_path, "read_file", path="a")
    assert "not a text file" in await refusal(tmp_path, "edit_file", path="a", old="P", new="x")
    assert "none of the files" in await call(tmp_path, "search_files", text="P")


async def test_a_huge_file_is_an_error_in_words(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(100 << 20)
    assert "larger than" in await refusal(tmp_path, "read_file", path="a")


async def test_characters_that_an_encoding_lacks_are_refused_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    before = "今天喝茶，天氣很好，我們一起去公園散步吧。" * 20
    (tmp_path / "a").write_bytes(before.encode("big5"))

    told = await refusal(tmp_path, "edit_file", path="a", old=before, new="🍵")

    assert "big5" in told
    assert (tmp_path / "a").read_bytes() == before.encode("big5")


async def test_nothing_is_searched_outside_by_way_of_links(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "secret").write_text("SECRET")
    (root / "l").symlink_to("../secret")
    (root / "d").symlink_to("..")

    assert "none of the files" in await call(root, "search_files", text="SECRET")
    assert "out of the workspace" in await refusal(root, "search_files", text="SECRET", path="d")
