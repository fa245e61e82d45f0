"""The guide to the library runs as it stands, with two vendors, and loads no more than it needs."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from teahouse.testing import answers as openai
from teahouse.testing import anthropic_answers as anthropic
from teahouse.testing.answers import Answer
from teahouse.testing.endpoint import Endpoint

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "library.md"
MODEL = '"openai/gpt-4o", key="sk-…"'
CALL = ("k1", "steeping", {"tea": "longjing", "cups": 2})
REPLY = ["Six grams, ", "eighty degrees."]


def example() -> str:
    found = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_it_takes_about_ten_lines() -> None:
    assert len([line for line in example().splitlines() if line.strip()]) <= 12
    assert MODEL in example()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("model", "replies", "path"),
    [
        (
            "openai/gpt-4o",
            [openai.tool_answer([CALL]), openai.text_answer(REPLY)],
            "/v1/chat/completions",
        ),
        (
            "anthropic/claude-sonnet-4-5",
            [anthropic.tool_answer([CALL]), anthropic.text_answer(REPLY)],
            "/v1/messages",
        ),
    ],
)
async def test_the_guide_streams_calls_a_function_and_changes_vendor_by_one_string(
    tmp_path: Path, model: str, replies: list[Answer], path: str
) -> None:
    async with Endpoint(replies) as endpoint:
        here = f'"{model}", key="sk-…", base_url="{endpoint.base_url}"'
        script = tmp_path / "example.py"
        script.write_text(example().replace(MODEL, here), encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", script, stdout=subprocess.PIPE
        )
        async with asyncio.timeout(60):
            said, _ = await process.communicate()

        assert process.returncode == 0
        assert said.decode() == "".join(REPLY)
        assert [request.path for request in endpoint.requests] == [path, path]
        assert "6 g of longjing, 80 °C, two minutes" in str(endpoint.requests[1].body["messages"])


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, teahouse.llm as llm\n"
        "bare = sorted(name for name in sys.modules if name.startswith('teahouse'))\n"
        "names = [getattr(llm, name) for name in llm.__all__]\n"
        "print(bare)\n"
        "print([name for name in sys.argv[1:] if name in sys.modules])\n"
    )
    heavy = (
        *("aiohttp", "litestar", "uvicorn", "sqlalchemy", "alembic", "sqlite3", "openai"),
        *("typer", "rich", "websockets", "cryptography", "xllamacpp", "teahouse.config"),
        *("teahouse.server", "teahouse.store", "teahouse.agent", "teahouse.chat", "teahouse.app"),
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *heavy], check=True, capture_output=True, text=True, timeout=60
    )

    assert run.stdout.splitlines() == ["['teahouse', 'teahouse.llm']", "[]"]
