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


VOICES = """
import sys
from teahouse.server.gateway import seed_chat
from teahouse.server.gateway.anthropic import voice
from teahouse.server.gateway.openai import chat_voice, responses_voice
print("litestar" in sys.modules)
"""


def test_telling_a_reply_in_a_vendors_words_loads_no_routes_of_the_page() -> None:
    told = subprocess.run(
        [sys.executable, "-c", VOICES], check=True, capture_output=True, text=True, timeout=60
    )

    assert told.stdout.strip() == "False"
