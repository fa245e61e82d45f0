from __future__ import annotations

from datetime import UTC, datetime

import pytest

from teahouse.core.errors import ToolFailed
from teahouse.core.messages import Text
from teahouse.llm.tool import ToolContext
from teahouse.tools.now import Now

pytestmark = pytest.mark.anyio


class Frozen:
    def now(self) -> datetime:
        return datetime(2026, 11, 30, 23, 30, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0


async def test_now_tells_the_time_of_a_zone_with_the_day_in_both_languages() -> None:
    (part,) = await Now(Frozen())({"zone": "Asia/Shanghai"}, ToolContext())

    assert part == Text(text="Tuesday (星期二) 2026-12-01T07:30:00+08:00")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc/passwd"])
async def test_a_zone_that_does_not_exist_is_named(zone: str) -> None:
    with pytest.raises(ToolFailed, match="time zone"):
        await Now(Frozen())({"zone": zone}, ToolContext())
