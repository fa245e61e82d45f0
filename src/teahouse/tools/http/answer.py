"""What a model gets to read of an answer: the status, and text, picked and cut; never a secret."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, quote_plus

import msgspec

from teahouse.core.messages import JsonObject
from teahouse.tools.fetch import Fetched
from teahouse.tools.http import picks
from teahouse.tools.http.definition import Definition
from teahouse.tools.http.holes import Hole
from teahouse.tools.text_bytes import read_text

_CHARSET: Final = re.compile(r"charset=\"?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_PIECE: Final = 5  # characters in a row that are no accident
_HIDDEN: Final = "…"
_NO_TYPE: Final = "application/octet-stream"


class Redactor:
    """Takes secrets out of texts, in the forms in which servers give back what they were sent."""

    def __init__(self, secrets: Mapping[Hole, str]) -> None:
        forms = {form: hole for hole, value in secrets.items() for form in _forms(hole, value)}
        self._forms = [
            (re.compile(re.escape(form), re.IGNORECASE), f"~{forms[form].name}~")
            for form in sorted(forms, key=len, reverse=True)
        ]
        self._pieces = {
            form[at : at + _PIECE].lower()
            for form in forms
            for at in range(max(1, len(form) - _PIECE + 1))
        }

    def __call__(self, text: str) -> str:
        for form, sign in self._forms:
            text = form.sub(sign, text)
        return text

    def brief(self, text: str) -> str:
        """For what may have been cut in the midst of a secret: nothing where a piece is in it."""
        low = text.lower()
        return _HIDDEN if any(piece in low for piece in self._pieces) else text


def told(definition: Definition, fetched: Fetched, redact: Redactor) -> str:
    """The text for the model."""
    status = _status(fetched.status)
    if definition.result == "status" or definition.method == "HEAD":
        return status
    body = _body(definition, fetched, redact)
    return f"{status}\n{_cut(body, definition.shown)}" if body else status


def _body(definition: Definition, fetched: Fetched, redact: Redactor) -> str:
    media_type = next((v for k, v in fetched.headers.items() if k.lower() == "content-type"), "")
    text = _text(fetched.body, media_type)
    if text is None:
        kind = media_type.partition(";")[0].strip() or _NO_TYPE
        return f"[{ascii(redact(kind)[:80])[1:-1]}, {len(fetched.body):,} bytes; not text]"
    tree = _tree(text)
    if definition.result == "body" or not 200 <= fetched.status < 300:
        return _redacted(text, tree, redact)
    if tree is None:
        return f"[The answer is not JSON, so {definition.result} is not in it.]\n{redact(text)}"
    try:
        found = picks.pick(tree["tree"], picks.parse(definition.result))
    except picks.NothingThere as error:
        at = redact(error.at)
        return f"[{definition.result} is not in the answer, only {at}.]\n{redact(text)}"
    return redact(found if isinstance(found, str) else _json(found))


def _redacted(text: str, tree: JsonObject | None, redact: Redactor) -> str:
    """JSON can spell a letter in several ways; where a secret hides in one, it is spelt plainly."""
    if tree is not None:
        plain = _json(tree["tree"])
        if redact(plain) != plain:
            return redact(plain)
    return redact(text)


def _tree(text: str) -> JsonObject | None:
    try:
        return {"tree": msgspec.json.decode(text)}
    except (msgspec.DecodeError, RecursionError):
        return None


def _json(tree: Any) -> str:
    return msgspec.json.encode(tree).decode()


def _text(body: bytes, media_type: str) -> str | None:
    charset = _CHARSET.search(media_type)
    if charset and b"\0" not in body:
        try:
            return body.decode(charset[1])
        except (LookupError, UnicodeError, ValueError):
            pass
    kind = media_type.partition(";")[0].strip().lower()
    if kind.startswith(("image/", "audio/", "video/", "font/")) and "xml" not in kind:
        return None
    read = read_text(body)
    return None if read is None else read.text


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[… {len(text) - most:,} characters are not shown …]"


def _status(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"


def _forms(hole: Hole, value: str) -> set[str]:
    plain = [value]
    if hole.kind == "basic":
        pair = base64.b64decode(value).decode()
        plain += [pair, pair.partition(":")[2]]
    forms: set[str] = set()
    for one in plain:
        forms |= {one, quote(one, safe=""), quote(one), quote_plus(one), html.escape(one)}
        forms |= {json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]}
        forms |= {base64.b64encode(one.encode()).decode(), ascii(one)[1:-1]}
        forms.add(str(one.encode())[2:-1])
        forms.add(one.replace("\\", "\\\\").replace('"', '\\"'))
    return forms - {""}
