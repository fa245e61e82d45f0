"""What an agent is told before the conversation: stable words first, so that they can be cached."""

from __future__ import annotations

from datetime import datetime

from teahouse.core import i18n
from teahouse.core.messages import Message, Text


def system_message(name: str, soul: str, *, now: datetime, language: i18n.Language) -> Message:
    """House rules, then who the agent is, then what changes from day to day."""
    house = i18n.text(language, "prompts.system", name=name)
    today = i18n.text(language, "prompts.today", date=f"{now.astimezone():%Y-%m-%d}")
    blocks = [house, soul.strip(), today]
    return Message(
        role="system", parts=(Text(text="\n\n".join(block for block in blocks if block)),)
    )
