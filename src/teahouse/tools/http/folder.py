"""The files `tools/http/*.toml` of the home: read again when they change, one wrong file alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from teahouse.core.disk import refused_by_disk, replace_file
from teahouse.core.errors import Invalid, TeahouseError
from teahouse.tools.http.checks import check, read
from teahouse.tools.http.definition import Definition

_MOST_BYTES: Final = 256 << 10
_MOST_FILES: Final = 1000
_LINE: Final = re.compile(r"line (\d+)")

_Mark = tuple[int, int, int]


class Broken(Struct, frozen=True, kw_only=True):
    """A file that is no tool. `line` is None where the error is about no line of it."""

    file: str
    line: int | None
    error: TeahouseError


class Found(Struct, frozen=True, kw_only=True):
    """`files`: which tool stands in which."""

    tools: Mapping[str, Definition]
    files: Mapping[str, str]
    broken: tuple[Broken, ...]


class HttpFolder:
    """Blocking; to be called in a thread. What has not changed is not read again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[str, tuple[_Mark, Definition | Broken]] = {}

    def look(self) -> Found:
        tools: dict[str, Definition] = {}
        files: dict[str, str] = {}
        broken: list[Broken] = []
        kept: dict[str, tuple[_Mark, Definition | Broken]] = {}
        for path in self._files():
            mark = _mark(path)
            if mark is None:
                continue
            before = self._kept.get(path.name)
            one = before[1] if before and before[0] == mark else read_file(path)
            kept[path.name] = mark, one
            if isinstance(one, Broken):
                broken.append(one)
            elif one.name in tools:
                twice = Invalid("http_tool_twice", tool=one.name, file=files[one.name])
                broken.append(Broken(file=path.name, line=None, error=twice))
            else:
                tools[one.name], files[one.name] = one, path.name
        self._kept = kept
        return Found(tools=tools, files=files, broken=tuple(broken))

    def save(self, definition: Definition) -> None:
        """In the file that holds the tool already, if there is one.

        Raises `Invalid`, `StorageFull`, `OSError`.
        """
        check(definition)
        name = self.look().files.get(definition.name, f"{definition.name}.toml")
        with refused_by_disk():
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / name, written(definition).encode())

    def remove(self, tool: str) -> bool:
        name = self.look().files.get(tool)
        if name is not None:
            (self.folder / name).unlink(missing_ok=True)
        return name is not None

    def _files(self) -> list[Path]:
        found = (
            path for path in self.folder.glob("*.toml") if not path.name.startswith((".", "_"))
        )
        return sorted(found)[:_MOST_FILES]


def read_file(path: Path) -> Definition | Broken:
    text = ""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"> {_MOST_BYTES >> 10} KB")
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        return read(tomllib.loads(text))
    except Invalid as error:
        line = line_of(text, error.values.get("field", ""))
        return Broken(file=path.name, line=line, error=error)
    except (OSError, ValueError, RecursionError) as error:
        told = getattr(error, "strerror", None) or str(error)
        wrong = Invalid("http_tool_file", file=path.name, detail=told)
        is_toml = isinstance(error, tomllib.TOMLDecodeError)
        return Broken(file=path.name, line=_line_in(told, text) if is_toml else None, error=wrong)


def _line_in(told: str, text: str) -> int:
    """That of an error of the TOML reader; some are of the end."""
    line = _LINE.search(told)
    return int(line[1]) if line else len(text.splitlines())


def line_of(text: str, field: str) -> int | None:
    """Where `headers.X-Key` stands, or else what is around it."""
    names = re.split(r"[.\[\]]+", field)
    lines = text.splitlines()
    for name in reversed([name for name in names if name and not name.isdigit()]):
        word = rf"[\"']?{re.escape(name)}[\"']?"
        key = re.compile(rf"\s*(?:[\w.\"'-]+\.)?{word}\s*[=.]|\s*\[+[^\]]*\b{re.escape(name)}\b")
        for number, line in enumerate(lines, 1):
            if key.match(line):
                return number
    return None


def written(definition: Definition) -> str:
    """The file of a definition. TOML has no null, so a body with one is told as JSON."""
    import tomlkit

    table = cast("dict[str, Any]", msgspec.to_builtins(definition))
    body = table.get("body")
    if body and "json" in body and _has_null(body["json"]):
        body["json"] = msgspec.json.format(msgspec.json.encode(body["json"]), indent=2).decode()
    return tomlkit.dumps(_without_null(table))


def _has_null(tree: Any) -> bool:
    if isinstance(tree, dict):
        return any(map(_has_null, cast("dict[str, Any]", tree).values()))
    return tree is None or (isinstance(tree, list) and any(map(_has_null, cast("list[Any]", tree))))


def _without_null(tree: Any) -> Any:
    if isinstance(tree, dict):
        branches = cast("dict[str, Any]", tree)
        return {key: _without_null(one) for key, one in branches.items() if one is not None}
    if isinstance(tree, list):
        return [_without_null(one) for one in cast("list[Any]", tree) if one is not None]
    return tree


def _mark(path: Path) -> _Mark | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if S_ISREG(found.st_mode) else None
