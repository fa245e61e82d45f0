"""Asks a model what a conversation is about, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from teahouse.core import i18n
from teahouse.core.events import RunEvent
from teahouse.core.messages import Message, Text
from teahouse.llm.client import Client
from teahouse.llm.provider import ModelRequest
from teahouse.llm.usage import NOBODY, Caller

MAX_TITLE = 40
EXCERPT = 400  # characters of each message: enough to tell the subject
MAX_TOKENS = 32


async def suggest_title(
    client: Client,
    model: str,
    messages: Sequence[Message],
    language: i18n.Language,
    *,
    caller: Caller = NOBODY,
) -> str:
    """Return a title of one line, or "" when the model gave none. Raises `ProviderError`."""
    talk = [message for message in messages if message.role in ("user", "assistant")]
    spoken = "\n".join(f"- {message.text.strip()[:EXCERPT]}" for message in talk)
    question = i18n.text(language, "prompts.title_request")
    request = ModelRequest(
        model=model,
        messages=(Message(role="user", parts=(Text(text=f"{spoken}\n\n{question}"),)),),
        max_tokens=MAX_TOKENS,
        temperature=0,
    )
    reply, _ = await client.ask(model, request, _nobody_listens, caller=caller)
    lines = [line.strip(" \t#*\"'“”「」《》。.：:") for line in reply.text.splitlines()]
    title = next((line for line in lines if line), "")
    return title if len(title) <= MAX_TITLE else ""


async def _nobody_listens(events: Sequence[RunEvent]) -> None:
    return None
