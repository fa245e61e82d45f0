"""Measures Teahouse and prints each figure beside its target: `make bench`, `bench.json`.

What can be compared is compared in the same run, by turns: a ratio says the same on every machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.closing import closing_rows  # noqa: E402  the folder is no package of ours
from benchmarks.gateway import gateway_rows  # noqa: E402
from benchmarks.posts import post_rows  # noqa: E402
from benchmarks.processes import help_rows, start_rows  # noqa: E402
from benchmarks.rival import rival_rows  # noqa: E402
from benchmarks.rows import Row, table  # noqa: E402
from benchmarks.sockets import socket_rows  # noqa: E402


async def helps(_: Path) -> list[Row]:
    return help_rows()


GROUPS: dict[str, Callable[[Path], Awaitable[list[Row]]]] = {
    "help": helps,
    "start": start_rows,
    "posts": post_rows,
    "sockets": socket_rows,
    "closing": closing_rows,
    "gateway": gateway_rows,
    "rival": rival_rows,
}


def main() -> int:
    chosen = sys.argv[1:] or list(GROUPS)
    rows: list[Row] = []
    for name in chosen:
        print(f"{name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            rows += asyncio.run(GROUPS[name](Path(folder)))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"\n{machine}\n\n{table(rows)}")
    found = [asdict(row) | {"met": row.met, "target": row.target} for row in rows]
    report = json.dumps({"machine": machine, "rows": found}, indent=2, ensure_ascii=False)
    (ROOT / "bench.json").write_text(report + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
