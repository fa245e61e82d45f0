"""The description of these routes for programs."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import get


@get("/api/openapi.json", include_in_schema=False)
async def openapi() -> dict[str, Any]:
    from teahouse.server.schema import openapi_schema

    return await asyncio.to_thread(openapi_schema)


HANDLERS = (openapi,)
