"""The examples of the guide to testing are tests, and pass as they stand there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture(params=range(len(EXAMPLES)))
def example(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "example.py"
    file.write_text("from __future__ import annotations\n" + EXAMPLES[request.param], "utf-8")
    return runpy.run_path(str(file))


def test_each_part_of_the_kit_has_an_example() -> None:
    kit = ("ScriptedProvider", "FaultyProvider", "FaultyEndpoint", "Recorder", "Replay")

    assert not [name for name in kit if f"{name}(" not in "".join(EXAMPLES)]


async def test_an_example_passes(example: dict[str, Any]) -> None:
    tests = [value for name, value in example.items() if name.startswith("test_")]

    assert tests
    for test in tests:
        await test()
