"""Where the log goes: standard error, as lines for people or as JSON for machines."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any

from teahouse.config.tree import Log
from teahouse.core.codec import encode


def log_to_console(settings: Log) -> None:
    handler = logging.StreamHandler(sys.stderr)
    lines = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_Json() if settings.json else lines)
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    if settings.level == "info":  # how a server comes and goes and tables change is no news
        for chatty in ("uvicorn.error", "alembic"):
            logging.getLogger(chatty).setLevel(logging.WARNING)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "name": record.name,
            "message": record.getMessage(),
        }
        if (call := getattr(record, "call", None)) is not None:
            line["call"] = call
        if record.exc_info:
            line["error"] = "".join(traceback.format_exception(*record.exc_info))
        return encode(line).decode()
