"""Pictures in OpenAI's words (`POST /v1/images/generations`), there and back."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct

from teahouse.core.messages import JsonObject
from teahouse.llm.pictures import Painted, Picture, PictureRequest
from teahouse.server.gateway.fields import read_object

_KNOWN = frozenset({"model", "prompt", "n", "stream", "partial_images"})


class ImagesAsked(Struct, frozen=True, kw_only=True):
    """`model` is the name as the client wrote it. `form`: what it wants of each picture."""

    model: str
    request: PictureRequest
    form: str | None


def read_images(body: bytes) -> ImagesAsked:
    """Raises `Invalid`."""
    fields = read_object(body)
    if fields.flag("stream"):
        fields.wrong("stream", "false")
    extra = {name: value for name, value in fields.values.items() if name not in _KNOWN}
    return ImagesAsked(
        model=fields.need_text("model"),
        form=fields.choice("response_format", ("url", "b64_json")),
        request=PictureRequest(
            prompt=fields.need_text("prompt"),
            count=fields.whole("n", least=1) or 1,
            extra={name: value for name, value in extra.items() if value is not None},
        ),
    )


def images_answer(asked: ImagesAsked, painted: Painted, now: datetime) -> bytes:
    answer: JsonObject = {
        "created": int(now.timestamp()),
        **painted.told,
        "data": [_row(asked, painted, picture) for picture in painted.pictures],
    }
    usage = painted.usage
    if not usage.estimated:
        answer["usage"] = {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "input_tokens_details": {"text_tokens": usage.input, "image_tokens": 0},
        }
    return msgspec.json.encode(answer)


def _row(asked: ImagesAsked, painted: Painted, picture: Picture) -> JsonObject:
    """A picture that came as bytes is an address too where one is wanted; what lies at an address
    is the client's to fetch."""
    row: JsonObject = {}
    if asked.form == "url" and picture.url is None and picture.encoded is not None:
        kind = painted.told.get("output_format") or "png"
        row["url"] = f"data:image/{kind};base64,{picture.encoded}"
    else:
        row = {"b64_json": picture.encoded, "url": picture.url}
    row["revised_prompt"] = picture.revised_prompt
    return {name: value for name, value in row.items() if value is not None}
