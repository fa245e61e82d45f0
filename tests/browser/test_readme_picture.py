"""The picture that README and docs show: `make picture` keeps what this test sees."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import PASSWORD, House, Visitor, end
from tests.browser.talk import ended, open_chat, tell

SIZE: ViewportSize = {"width": 1280, "height": 960}
TALK = {
    "Which water for which tea? 各种茶用多热的水？": """Green tea likes it cooler, black tea boils:

| 茶 Tea | 水温 Water | 时间 Time |
|---|---:|---:|
| 绿茶 Green | 80 °C | 2 min |
| 乌龙 Oolong | 90 °C | 3 min |
| 红茶 Black | 95 °C | 4 min |

Too hot and it turns **bitter**: heat draws out the tannins first.
""",
    "Can you time it for me?": """Here is a small timer:

```python
from time import sleep

def steep(tea: str, minutes: float) -> str:
    sleep(minutes * 60)
    return f"{tea} is ready, 请用茶"
```
""",
}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[House]:
    """A house whose model knows this one talk by heart."""
    script = tmp_path / "script.json"
    answers = [
        {"pieces": [text[i : i + 24] for i in range(0, len(text), 24)]} for text in TALK.values()
    ]
    script.write_text(json.dumps([*answers, {"text": "Hot water for tea"}]), encoding="utf-8")
    model = subprocess.Popen(
        [sys.executable, "-m", "teahouse.testing.endpoint", "--script", str(script)],
        stdout=subprocess.PIPE,
    )
    assert model.stdout is not None
    house = House(
        tmp_path,
        model.stdout.readline().decode().strip(),
        TEAHOUSE_OWNER_PASSWORD=PASSWORD,
        TEAHOUSE_LANGUAGE="en-US",
        TEAHOUSE_DEFAULT_MODEL="fake/fake",
    )
    house.start()
    yield house
    house.stop()
    end(model)


def test_the_readme_shows_what_a_person_sees(
    host: House, visit: Visitor, picture: Callable[[Page, str], Path]
) -> None:
    page = open_chat(visit, host, language="en-US", size=SIZE)
    for number, question in enumerate(TALK, start=1):
        tell(page, question)
        ended(page, number)
    expect(page.locator("table")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("请用茶")
    expect(page.get_by_text("Hot water for tea").first).to_be_visible()

    assert picture(page, "chat").stat().st_size > 10_000
