"""What the server must not load: every start would pay for it."""

from __future__ import annotations

import subprocess
import sys

BUILD = """
import sys
from teahouse.server import serving
from teahouse.server.app import Application
class House: accounts = None; hosts = ()
Application(House())
print(sorted({"pydantic", "attr", "aiohttp", "alembic", "argon2", "rich"} & set(sys.modules)))
"""


def test_building_the_routes_loads_no_library_that_they_do_not_use() -> None:
    built = subprocess.run(
        [sys.executable, "-c", BUILD], check=True, capture_output=True, text=True, timeout=60
    )

    assert built.stdout.strip() == "[]"
