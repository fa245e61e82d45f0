"""Conversations, their messages, and taking them home as a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar import Response, delete, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from teahouse.chat import export
from teahouse.chat.ports import Conversation, ConversationChanges, Page
from teahouse.core.messages import Post
from teahouse.server.answers import Accepted
from teahouse.server.body import Request
from teahouse.server.disposition import attachment
from teahouse.server.forms import ConversationEdit, NewConversation, NewMessage

Limit = Annotated[int, QueryParameter(ge=1, le=200)]


@get("/api/conversations")
async def list_conversations(
    request: Request,
    before: FromQuery[str | None] = None,
    limit: Limit = 50,
    archived: FromQuery[bool] = False,
) -> Page[Conversation]:
    """Newest activity first; `next` is the `before` of the following page."""
    return await request.house.chat.conversations(
        request.person, before=before, limit=limit, archived=archived
    )


@post("/api/conversations")
async def open_conversation(request: Request, data: JSONBody[NewConversation]) -> Conversation:
    return await request.house.chat.open(request.person, agent=data.agent, title=data.title)


@get("/api/conversations/{conversation:str}")
async def get_conversation(request: Request, conversation: FromPath[str]) -> Conversation:
    return await request.house.chat.conversation(request.person, conversation)


@patch("/api/conversations/{conversation:str}")
async def change_conversation(
    request: Request, conversation: FromPath[str], data: JSONBody[ConversationEdit]
) -> Conversation:
    changes = ConversationChanges(title=data.title, pinned=data.pinned, archived=data.archived)
    return await request.house.chat.change(request.person, conversation, changes)


@delete("/api/conversations/{conversation:str}")
async def delete_conversation(request: Request, conversation: FromPath[str]) -> None:
    await request.house.chat.delete(request.person, conversation)


@get("/api/conversations/{conversation:str}/export")
async def export_conversation(
    request: Request,
    conversation: FromPath[str],
    format: Annotated[Literal["markdown", "json"], QueryParameter()] = "markdown",  # noqa: A002
) -> Response[Any]:
    house = request.house
    found = await house.chat.conversation(request.person, conversation)
    posts = await export.all_posts(house.chat, request.person, conversation)
    if format == "json":
        content, kind, ending = export.as_json(found, posts), "application/json", "json"
    else:
        names = await export.names(house.directory, request.person, found)
        content, kind, ending = export.as_markdown(found, posts, names), "text/markdown", "md"
    name = f"{found.title or found.id}.{ending}"
    return Response(
        content,
        media_type=kind,
        headers={"content-disposition": attachment(name), "cache-control": "no-store"},
    )


@post("/api/messages", status_code=202)
async def send_message(request: Request, data: JSONBody[NewMessage]) -> Accepted:
    received = await request.house.chat.receive(
        request.person,
        text=data.text,
        conversation=data.conversation,
        agent=data.agent,
        files=data.files,
        client_id=data.client_id,
        reply_to=data.reply_to,
        model=data.model,
        key=request.key,
    )
    return Accepted(post=received.post, runs=received.runs)


@get("/api/messages")
async def list_messages(
    request: Request,
    conversation: FromQuery[str],
    before: FromQuery[str | None] = None,
    after: FromQuery[str | None] = None,
    limit: Limit = 50,
) -> Page[Post]:
    """The newest posts older than `before`, or the oldest newer than `after`, oldest first."""
    return await request.house.chat.posts(
        request.person, conversation, before=before, after=after, limit=limit
    )


HANDLERS = (
    list_conversations,
    open_conversation,
    get_conversation,
    change_conversation,
    delete_conversation,
    export_conversation,
    send_message,
    list_messages,
)
