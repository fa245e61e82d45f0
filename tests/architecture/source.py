"""Every module of the package, parsed once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "teahouse"
# Programs of their own, run by path inside the sandbox or right before it; nothing imports them.
PROGRAMS = frozenset({"tools/snippet.py", "tools/sandbox/launch.py"})


@dataclass(frozen=True)
class Module:
    name: str  # relative to the package: "core/bus.py"
    source: str
    tree: ast.Module

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Every call with its dotted name, as far as names can tell: `asyncio.Queue`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield dotted(node.func), node

    def at(self, node: ast.expr | ast.stmt) -> str:
        return f"{self.name}:{node.lineno}"


def dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{dotted(value)}.{attribute}"
        case _:
            return "…"


MODULES = [
    Module(path.relative_to(PACKAGE).as_posix(), source, ast.parse(source))
    for path in sorted(PACKAGE.rglob("*.py"))
    if (source := path.read_text(encoding="utf-8")).strip()
]
