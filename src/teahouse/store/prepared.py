"""Statements on the path of every post: compiled once, then handed to the driver as text.

SQLAlchemy finds the compiled form of a statement in a cache, but still spends most of an insert's
time around it; this leaves a third. Only for statements whose results need no conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from sqlalchemy import ClauseElement, Connection, CursorResult, Dialect

_Convert: TypeAlias = Callable[[Any], Any]


class _Compiled(Struct, frozen=True):
    dialect: Dialect
    text: str
    places: tuple[tuple[str, _Convert | None], ...]


class Prepared:
    """`keys` names the values of an insert; other statements name theirs by `bindparam`."""

    def __init__(self, statement: ClauseElement, keys: tuple[str, ...] | None = None) -> None:
        self._statement, self._keys = statement, keys
        self._compiled: _Compiled | None = None

    def __call__(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        compiled = self._compiled
        if compiled is None or compiled.dialect is not connection.dialect:
            compiled = self._compiled = self._compile(connection.dialect)
        given = tuple(
            values[name] if convert is None else convert(values[name])
            for name, convert in compiled.places
        )
        return connection.exec_driver_sql(compiled.text, given)

    def _compile(self, dialect: Dialect) -> _Compiled:
        keys = list(self._keys) if self._keys else None
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=keys)
        assert compiled.positional, "a driver with named parameters needs them as a mapping"
        places = tuple(
            (name, compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup
        )
        return _Compiled(dialect, str(compiled), places)
