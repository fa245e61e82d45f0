"""Reads the JSON of clients: what nobody knows is passed over, a wrong value is named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn, TypeVar, cast

import msgspec

from teahouse.core.errors import Invalid
from teahouse.core.messages import JsonObject
from teahouse.llm.surrogates import mend

ChoiceT = TypeVar("ChoiceT", bound=str)

_MOST_WHOLE: Final = 2**63 - 1  # what vendors, the ledger and every language can hold
_SHOWN: Final = 80  # characters of a wrong value that the error quotes


def read_object(body: bytes) -> Fields:
    """The object that a body holds. Half characters, as cut texts have them, are mended: they must
    not cost anybody a conversation."""
    try:
        value = msgspec.json.decode(body)
    except RecursionError as error:
        raise Invalid("not_json", detail="nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _decoded_loosely(body)
    if not isinstance(value, dict):
        raise Invalid("not_json", detail=f"{shown(value)} is no object")
    return Fields(cast("JsonObject", value))


def shown(value: object) -> str:
    """A value as JSON, cut short."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float) else ""
    if not text:
        text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class Fields:
    """One object of a request and where it stands. null means that a field was not given.

    Each method reads one field and raises `Invalid` that names it, its value and what it takes
    (written as a TypeScript type, which needs no translation).
    """

    def __init__(self, values: JsonObject, path: str = "") -> None:
        self.values = values
        self.path = path

    def raw(self, name: str) -> Any:
        return self.values.get(name)

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, name: str, right: str) -> NoReturn:
        raise Invalid(
            "field_wrong", field=self.at(name), value=shown(self.raw(name)), right=right
        ) from None

    def missing(self, name: str) -> NoReturn:
        raise Invalid("field_missing", field=self.at(name))

    def text(self, name: str) -> str | None:
        value = self.raw(name)
        if value is not None and not isinstance(value, str):
            self.wrong(name, "string")
        return value

    def need_text(self, name: str) -> str:
        """A text that must be given, and not be empty."""
        value = self.text(name)
        if value is None:
            self.missing(name)
        return value or self.wrong(name, "string (length ≥ 1)")

    def flag(self, name: str) -> bool | None:
        value = self.raw(name)
        if value is not None and not isinstance(value, bool):
            self.wrong(name, "boolean")
        return value

    def whole(self, name: str, *, least: int | None = None) -> int | None:
        """A whole number; 1024.0 is one too."""
        value = self.raw(name)
        right = "integer" if least is None else f"integer ≥ {least}"
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            self.wrong(name, right)
        if abs(value) > _MOST_WHOLE:
            self.wrong(name, f"{right} ≤ {_MOST_WHOLE}")
        if least is not None and value < least:
            self.wrong(name, right)
        return value

    def number(self, name: str, *, least: float, most: float) -> float | None:
        value = self.raw(name)
        if value is None:
            return None
        right = f"{least:g} ≤ number ≤ {most:g}"
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.wrong(name, right)
        if not least <= value <= most:
            self.wrong(name, right)
        return float(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A text or a list of texts."""
        value = self.raw(name)
        if value is None:
            return ()
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(item, str) for item in items):
            self.wrong(name, "string | string[]")
        return tuple(cast("list[str]", items))

    def choice(self, name: str, choices: Sequence[ChoiceT]) -> ChoiceT | None:
        value = self.raw(name)
        if value is not None and value not in choices:
            self.wrong(name, " | ".join(f'"{choice}"' for choice in choices))
        return value

    def object(self, name: str) -> Fields | None:
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.wrong(name, "object")
        return Fields(cast("JsonObject", value), self.at(name))

    def need_object(self, name: str) -> Fields:
        return self.object(name) or self.missing(name)

    def objects(self, name: str) -> Iterator[Fields]:
        """The objects of a list, each with its own path."""
        value = self.raw(name)
        if value is None:
            return
        if not isinstance(value, list):
            self.wrong(name, "object[]")
        for place, item in enumerate(cast("list[object]", value)):
            if not isinstance(item, dict):
                raise Invalid(
                    "field_wrong", field=f"{self.at(name)}[{place}]", value=shown(item),
                    right="object",
                )  # fmt: skip
            yield Fields(cast("JsonObject", item), f"{self.at(name)}[{place}]")


def _decoded_loosely(body: bytes) -> object:
    """Python's own parser takes half characters; what is no JSON stays none."""
    try:
        return mend(json.loads(body.decode("utf-8-sig"), parse_constant=_constant))
    except UnicodeDecodeError as error:
        raise Invalid("not_utf8", position=error.start) from error
    except RecursionError as error:
        raise Invalid("not_json", detail="nested too deeply") from error
    except ValueError as error:
        raise Invalid("not_json", detail=error) from error


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
