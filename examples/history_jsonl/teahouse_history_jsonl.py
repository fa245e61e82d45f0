"""Keeps each conversation in a file of its own, one JSON line a message."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from teahouse.core.codec import decode, encode
from teahouse.llm import Message


class JsonLines:
    """`options["folder"]` says where."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._folder = Path(options["folder"])
        self._writing = asyncio.Lock()

    async def load(self, conversation: str, /) -> Sequence[Message]:
        lines = await asyncio.to_thread(self._read, self._file(conversation))
        return [decode(line, Message) for line in lines]

    async def append(self, conversation: str, messages: Sequence[Message], /) -> None:
        lines = b"".join(encode(message) + b"\n" for message in messages)
        async with self._writing:
            await asyncio.to_thread(self._write, self._file(conversation), lines)

    def _file(self, conversation: str) -> Path:
        return self._folder / f"{quote(conversation, safe='')}.jsonl"

    def _read(self, file: Path) -> list[bytes]:
        return file.read_bytes().splitlines() if file.exists() else []

    def _write(self, file: Path, lines: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as stream:
            stream.write(lines)
