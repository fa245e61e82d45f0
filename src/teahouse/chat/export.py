"""A conversation as a file that its people can take home: Markdown to read, JSON to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from teahouse.agent.directory import Directory
from teahouse.chat.ports import Conversation
from teahouse.core.codec import encode
from teahouse.core.errors import NotFound
from teahouse.core.messages import Blob, ParticipantId, Person, Post, Text, ToolCall

if TYPE_CHECKING:
    from teahouse.chat.service import Chat

PAGE = 200


async def all_posts(chat: Chat, person: Person, conversation: str) -> list[Post]:
    """Every post, oldest first."""
    pages: list[Sequence[Post]] = []
    before: str | None = None
    while True:
        page = await chat.posts(person, conversation, before=before, limit=PAGE)
        pages.append(page.items)
        before = page.next
        if before is None:
            return [post for items in reversed(pages) for post in items]


async def names(
    directory: Directory, person: Person, conversation: Conversation
) -> dict[ParticipantId, str]:
    """Who is who in the file. An agent that is gone keeps its id."""
    found = {person.id: person.name}
    for agent in conversation.agents:
        try:
            found[agent] = (await directory.record(person, agent)).name
        except NotFound:
            continue
    return found


def as_json(conversation: Conversation, posts: Sequence[Post]) -> bytes:
    return msgspec.json.format(encode({"conversation": conversation, "posts": posts}), indent=2)


def as_markdown(
    conversation: Conversation, posts: Sequence[Post], names: Mapping[ParticipantId, str]
) -> str:
    blocks = [f"# {conversation.title or conversation.id}"]
    for post in posts:
        author = names.get(post.author, post.author)
        blocks.append(f"**{author}** · {post.at:%Y-%m-%d %H:%M} UTC")
        blocks += [block for part in post.parts if (block := _block(part))]
    return "\n\n".join(blocks) + "\n"


def _block(part: object) -> str:
    match part:
        case Text():
            return part.text.strip()
        case Blob():
            return f"[{part.name}]"
        case ToolCall():
            return f"> `{part.name}`"
        case _:
            return ""
