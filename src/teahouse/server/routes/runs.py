"""Runs: how an answer comes to be, live and afterwards."""

from __future__ import annotations

from litestar import get, post
from litestar.params import FromPath, FromQuery

from teahouse.agent.participant import ReplyStep, ResultStep
from teahouse.chat.ports import Page, Run
from teahouse.core.errors import Invalid
from teahouse.server import sse
from teahouse.server.answers import whole
from teahouse.server.body import Request
from teahouse.server.streaming import Pieces


@get("/api/runs/{run:str}")
async def get_run(request: Request, run: FromPath[str]) -> Run:
    return await request.house.chat.run(request.person, run)


@get("/api/runs/{run:str}/steps")
async def list_steps(request: Request, run: FromPath[str]) -> Page[ReplyStep | ResultStep]:
    """Each model reply and tool result as it was recorded."""
    return whole(await request.house.chat.steps(request.person, run))


@post("/api/runs/{run:str}/stop", status_code=200)
async def stop_run(request: Request, run: FromPath[str]) -> Run:
    """End a run and keep what it has said. One that has ended stays as it is."""
    return await request.house.chat.stop(request.person, run)


@get("/api/runs/{run:str}/events", media_type="text/event-stream")
async def follow_run(
    request: Request, run: FromPath[str], after: FromQuery[int | None] = None
) -> Pieces:
    """The run's envelopes as server-sent events, until its `stream_end`.

    A run that has ended is told again. Close the stream at `stream_end`, else a browser's
    EventSource comes back and hears it once more.
    """
    house = request.house
    await house.chat.run(request.person, run)  # refused before the stream begins
    places = [after, _last_event_id(request)]
    since = max((place for place in places if place is not None), default=None)
    events = sse.stream(
        house.chat, request.app.state.readers, (request.auth, request.person), run, since
    )
    return Pieces(events, "text/event-stream", sse.HEADERS)


def _last_event_id(request: Request) -> int | None:
    """Where a browser's EventSource was when it lost us."""
    value = request.headers.get("last-event-id")
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 16):
        raise Invalid("parameter_wrong", name="Last-Event-ID", detail=value[:40])
    return int(value)


HANDLERS = (get_run, list_steps, stop_run, follow_run)
