"""Judges path cases: a fresh workspace is made as the case says, and one operation tried in it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from teahouse.core.errors import ToolFailed
from teahouse.testing.case_files import Case, Verdict
from teahouse.tools.enclosure import Enclosure
from teahouse.tools.files import MOST_BYTES, edit

WRITTEN = "written by a case"


def judge(cases: Sequence[Case]) -> Iterator[Verdict]:
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "workspace"
            plant(root, case.get("tree", {}))
            actual = outcome(root, case)
        wrong = actual != case["expect"]
        yield Verdict(
            id=case["id"], problems={"outcome": (case["expect"], actual)} if wrong else {}
        )


def plant(root: Path, tree: Mapping[str, Any]) -> None:
    root.mkdir()
    for name, what in tree.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            place.mkdir()
        elif isinstance(what, str):
            place.write_text(what, encoding="utf-8")
        else:
            place.symlink_to(what["link"])


def outcome(root: Path, case: Case) -> str:
    files, path = Enclosure(root), case["path"]
    try:
        match case["op"]:
            case "read":
                files.read(path, most=MOST_BYTES)
            case "list":
                files.entries(path)
            case "write":
                files.write(path, WRITTEN.encode())
            case "edit":
                text = files.read(path, most=MOST_BYTES).decode()
                old, new = case.get("old", text), case.get("new", WRITTEN)
                files.write(path, edit(text, old, new, path).encode())
            case other:
                return f"unknown op {other}"
    except ToolFailed:
        return "refuse"
    return "allow"
