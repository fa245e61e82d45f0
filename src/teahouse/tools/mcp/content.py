"""What a server returned, in our own words: text stays text, bytes are stored as blobs."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import mcp_types as types
import msgspec

from teahouse.core.messages import Blob, Text
from teahouse.llm.tool import Content, ToolContext
from teahouse.tools.mcp.ports import Keep


async def of_result(result: types.CallToolResult, context: ToolContext, keep: Keep) -> Content:
    """Structured content is shown only where nothing says it in words."""
    found = [await _block(block, context, keep) for block in result.content]
    if not found and result.structured_content is not None:
        found.append(Text(text=msgspec.json.encode(result.structured_content).decode()))
    return tuple(found)


async def of_resource(
    result: types.ReadResourceResult, context: ToolContext, keep: Keep
) -> Content:
    return tuple([await _resource(one, context, keep) for one in result.contents])


async def of_message(block: types.ContentBlock, context: ToolContext, keep: Keep) -> Text | Blob:
    return await _block(block, context, keep)


async def _block(block: types.ContentBlock, context: ToolContext, keep: Keep) -> Text | Blob:
    match block:
        case types.TextContent():
            return Text(text=block.text)
        case types.ImageContent() | types.AudioContent():
            return await _blob(block.data, block.mime_type, block.type, context, keep)
        case types.EmbeddedResource():
            return await _resource(block.resource, context, keep)
        case types.ResourceLink():
            return Text(text=f"{block.title or block.name}: {block.uri}")


async def _resource(
    one: types.TextResourceContents | types.BlobResourceContents, context: ToolContext, keep: Keep
) -> Text | Blob:
    if isinstance(one, types.TextResourceContents):
        return Text(text=one.text)
    media_type = one.mime_type or "application/octet-stream"
    name = PurePosixPath(urlsplit(one.uri).path).name or "resource"
    return await _blob(one.blob, media_type, name, context, keep)


async def _blob(
    data: str, media_type: str, name: str, context: ToolContext, keep: Keep
) -> Text | Blob:
    try:
        found = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Text(text=f"[{media_type}: not base64]")
    if "." not in name:
        name += mimetypes.guess_extension(media_type.partition(";")[0].strip()) or ""
    return await keep(found, media_type, name, context)
