"""The description of these routes for programs."""

from __future__ import annotations

from typing import Any

from litestar import Response, get
from litestar.serialization import encode_json

from teahouse.server.body import Request


@get("/api/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response[Any]:
    from teahouse.server.schema import openapi_of

    return Response(encode_json(openapi_of(request.app)), media_type="application/json")


HANDLERS = (openapi,)
