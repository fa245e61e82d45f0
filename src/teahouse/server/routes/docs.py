"""The description of these routes for programs."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import get

from teahouse.server.body import Request


@get("/api/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> dict[str, Any]:
    return await asyncio.to_thread(request.app.state.describe)


HANDLERS = (openapi,)
