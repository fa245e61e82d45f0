"""Questions to the person who asks, whether a tool call may be made; and answers that hold on."""

from __future__ import annotations

from typing import Annotated

from litestar import delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from teahouse.agent.approval import Answer
from teahouse.agent.permission import Grant
from teahouse.agent.ports import ApprovalRecord
from teahouse.chat.ports import Page
from teahouse.core.events import ApprovalState
from teahouse.server.answers import whole
from teahouse.server.body import Request


@get("/api/approvals")
async def list_approvals(
    request: Request,
    only: Annotated[ApprovalState | None, QueryParameter(name="state")] = None,
    run: FromQuery[str | None] = None,
) -> Page[ApprovalRecord]:
    """What you were asked, the newest first; at most 200."""
    return whole(await request.house.desk.all(request.person, state=only, run=run))


@post("/api/approvals/{approval:str}", status_code=200)
async def answer_approval(
    request: Request, approval: FromPath[str], data: JSONBody[Answer]
) -> ApprovalRecord:
    """Answer a question once; `always` makes a grant."""
    return await request.house.desk.answer(request.person, approval, data)


@get("/api/grants")
async def list_grants(request: Request) -> Page[Grant]:
    """Your answers that hold for more calls, the newest first."""
    return whole(await request.house.desk.grants(request.person))


@delete("/api/grants/{grant:str}")
async def remove_grant(request: Request, grant: FromPath[str]) -> None:
    await request.house.desk.remove_grant(request.person, grant)


HANDLERS = (list_approvals, answer_approval, list_grants, remove_grant)
