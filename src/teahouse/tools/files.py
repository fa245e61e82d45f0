"""The tools for files: reading, writing, editing, listing and searching an agent's workspace.

Texts here are for models, and in English for that reason.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from teahouse.llm.function import as_tool
from teahouse.llm.tool import Tool, ToolContext
from teahouse.tools.enclosure import Enclosure
from teahouse.tools.paths import PathRefused
from teahouse.tools.text_bytes import TextBytes, read_text

RootOf: TypeAlias = Callable[[ToolContext], Path]
"""The workspace of the agent that calls; asked in a thread. Raises `ToolFailed` if it has none."""

Count: TypeAlias = Annotated[int, Meta(ge=1)]

MOST_BYTES: Final = 10 << 20
_SEARCHED_BYTES: Final = 2 << 20  # of one file
_MOST_SHOWN: Final = 60_000  # characters of one file
_MOST_ENTRIES: Final = 1000
_MOST_MATCHES: Final = 200
_MOST_SEARCHED: Final = 200 << 20  # bytes of all files
_LONGEST_LINE: Final = 300


def file_tools(root_of: RootOf) -> tuple[Tool, ...]:
    files = _Files(root_of)
    look = as_tool(repeatable=True, effect="read")
    return (
        look(files.read_file),
        as_tool(repeatable=True, effect="write")(files.write_file),
        as_tool(effect="write")(files.edit_file),
        look(files.list_dir),
        look(files.search_files),
    )


class _Files:
    """Its methods are the tools: names, docstrings and types are what the model is told."""

    def __init__(self, root_of: RootOf) -> None:
        self._root_of = root_of

    def read_file(
        self, context: ToolContext, path: str, line: Count = 1, lines: Count = 2000
    ) -> str:
        """Read a text file of the workspace.

        path: relative to the workspace
        line: the first line to read, counted from 1
        lines: how many lines to read at most
        """
        found = _text(self._files(context).read(path, most=MOST_BYTES), path)
        every = found.text.splitlines(keepends=True)
        wanted = every[line - 1 : line - 1 + lines]
        shown = "".join(wanted)
        if len(shown) > _MOST_SHOWN:
            shown = shown[:_MOST_SHOWN]
            wanted = shown.splitlines()
        notes = [f"encoding {found.encoding}"] if found.encoding != "utf-8" else []
        if len(wanted) < len(every):
            notes.append(f"lines {line} to {line - 1 + len(wanted)} of {len(every)}")
        if not found.text:
            return f"[{path} is empty]"
        return shown + (f"\n[{path}: {', '.join(notes)}]" if notes else "")

    def write_file(self, context: ToolContext, path: str, content: str) -> str:
        """Write a text file of the workspace whole; what was there is replaced.

        path: relative to the workspace; missing folders are made
        content: the whole new text
        """
        data = _encoded(TextBytes(text=""), content, path)
        new = self._files(context).write(path, data)
        return f"{'Made' if new else 'Replaced'} {path}: {len(data)} bytes."

    def edit_file(self, context: ToolContext, path: str, old: str, new: str) -> str:
        """Replace one passage of a text file in the workspace.

        path: relative to the workspace
        old: the passage as it stands in the file, with enough around it to occur only once
        new: what takes its place
        """
        files = self._files(context)
        files_text = _text(files.read(path, most=MOST_BYTES), path)
        edited = edit(files_text.text, old, new, path)
        files.write(path, _encoded(files_text, edited, path))
        return f"Edited {path}."

    def list_dir(self, context: ToolContext, path: str = ".") -> str:
        """List a folder of the workspace: one entry a line, folders with a slash at the end.

        path: relative to the workspace; the workspace itself if absent
        """
        entries = self._files(context).entries(path or ".")
        marks = {"folder": "/", "link": " (link)", "other": " (no file)"}
        rows = [
            f"{one.name} ({one.size} bytes)" if one.kind == "file" else one.name + marks[one.kind]
            for one in entries[:_MOST_ENTRIES]
        ]
        if len(entries) > _MOST_ENTRIES:
            rows.append(f"[{len(entries) - _MOST_ENTRIES} more]")
        return "\n".join(rows) or "The folder is empty."

    def search_files(
        self, context: ToolContext, text: str, path: str = ".", names: str = "*"
    ) -> str:
        """Find a text in the files of the workspace, whatever its case: `file:line: text`.

        text: what to find, as it stands; no patterns
        path: the folder to search; the whole workspace if absent
        names: only in files whose name fits, such as *.md
        """
        wanted = text.casefold()
        rows: list[str] = []
        searched = 0
        for name, data in self._files(context).texts(path or ".", most=_SEARCHED_BYTES):
            searched += len(data)
            if fnmatch.fnmatch(name.rpartition("/")[2], names) and (found := read_text(data)):
                rows += (
                    f"{name}:{number}: {line.strip()[:_LONGEST_LINE]}"
                    for number, line in enumerate(found.text.splitlines(), 1)
                    if wanted in line.casefold()
                )
            if len(rows) >= _MOST_MATCHES or searched > _MOST_SEARCHED:
                rows = [*rows[:_MOST_MATCHES], "[The search stopped here; narrow it.]"]
                break
        return "\n".join(rows) or f"{text!r} stands in none of the files."

    def _files(self, context: ToolContext) -> Enclosure:
        return Enclosure(self._root_of(context))


def edit(text: str, old: str, new: str, path: str) -> str:
    """`text` with `new` for the only `old`; an empty `old` fits an empty text alone."""
    if "\r\n" in text and "\r" not in old:
        old, new = (part.replace("\n", "\r\n") for part in (old, new))
    count = _occurrences(text, old) if old else int(not text)
    if count == 0:
        raise PathRefused("edit_missing", path)
    if count > 1:
        raise PathRefused("edit_ambiguous", path, count=count)
    return text.replace(old, new, 1) if old else new


def _occurrences(text: str, old: str) -> int:
    """Overlapping ones too: in `aaa` it is not clear which `aa` is meant."""
    count, at = 0, text.find(old)
    while at >= 0:
        count, at = count + 1, text.find(old, at + 1)
    return count


def _text(data: bytes, path: str) -> TextBytes:
    found = read_text(data)
    if found is None:
        raise PathRefused("path_binary", path)
    return found


def _encoded(like: TextBytes, text: str, path: str) -> bytes:
    try:
        data = like.save(text)
    except UnicodeEncodeError as error:
        raise PathRefused("path_encoding", path, encoding=like.encoding) from error
    if len(data) > MOST_BYTES:
        raise PathRefused("path_too_large", path, limit_kb=MOST_BYTES // 1024)
    return data
