"""Reads a multipart form: fields, and files with their names."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from msgspec import Struct, field

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject

MULTIPART: Final = "multipart/form-data"
_MOST: Final = 64  # parts
_MOST_TEXT: Final = 1 << 20  # bytes of all fields that are no files


class FormFile(Struct, frozen=True, kw_only=True):
    data: bytes
    name: str
    media_type: str


class Form(Struct, frozen=True):
    """Fields are texts; those called `NAME[]` are lists of them."""

    fields: JsonObject = field(default_factory=dict[str, object])
    files: dict[str, FormFile] = field(default_factory=dict[str, FormFile])


def read_form(content_type: str, body: bytes) -> Form:
    """Raises `Invalid` for what is no whole form."""
    # By its name, since another package that may be installed has one for the type checker that
    # hides this one; when it runs, it gives way.
    multipart: Any = import_module("multipart")
    kind, options = multipart.parse_options_header(content_type)
    boundary = str(options.get("boundary") or "")
    if kind != MULTIPART or not boundary:
        raise Invalid("field_wrong", field="Content-Type", value=content_type, right=MULTIPART)
    form, left = Form(), _MOST_TEXT
    head: Any = None
    data = bytearray()
    try:
        with multipart.PushMultipartParser(boundary, max_segment_count=_MOST) as parser:
            for found in parser.parse(body):
                if isinstance(found, multipart.MultipartSegment):
                    head, data = found, bytearray()
                elif found is not None:
                    data += found
                elif head is not None:
                    left -= 0 if head.filename else len(data)
                    if left < 0:
                        raise Invalid("bad_request", detail=f"> {_MOST_TEXT} bytes")
                    _put(form, head.name or "", head.filename, head.content_type, bytes(data))
    except (multipart.MultipartError, UnicodeDecodeError) as error:
        raise Invalid("bad_request", detail=error) from error
    return form


def _put(form: Form, name: str, file: str | None, media_type: str | None, data: bytes) -> None:
    if file:
        kind = media_type or "application/octet-stream"
        form.files[name] = FormFile(data=data, name=file, media_type=kind)
    elif name.endswith("[]"):
        form.fields.setdefault(name, []).append(data.decode())
    else:
        form.fields[name] = data.decode()
