"""The tool `now`: a model knows no clock."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from teahouse.core.clock import Clock
from teahouse.core.errors import ToolFailed
from teahouse.core.messages import JsonObject, Text
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, ToolContext

CHINESE_DAYS = ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日")


class Now:
    repeatable = True
    effect = "read"
    spec = ToolSpec(
        name="now",
        description="Tell the present date and time.",
        parameters={
            "type": "object",
            "properties": {
                "zone": {
                    "type": "string",
                    "description": "IANA time zone such as Asia/Shanghai; the server's if absent",
                }
            },
        },
    )

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        instant = self._clock.now()
        zone = arguments.get("zone")
        if zone:
            try:
                instant = instant.astimezone(ZoneInfo(str(zone)))
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:
                raise ToolFailed(f"There is no time zone {zone!r}; use an IANA name.") from error
        else:
            instant = instant.astimezone()
        day = f"{instant:%A} ({CHINESE_DAYS[instant.weekday()]})"  # small models mistranslate it
        return (Text(text=f"{day} {instant.isoformat(timespec='seconds')}"),)
