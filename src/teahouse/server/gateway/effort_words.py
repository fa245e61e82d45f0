"""The words of clients for how hard a model is to think: those of all interfaces together."""

from __future__ import annotations

from typing import Final

from teahouse.llm.provider import Effort

EFFORTS: Final[dict[str, Effort]] = {
    "none": "none",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "xhigh",
}
