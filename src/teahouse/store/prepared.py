"""Statements on the path of every post and call: compiled once, then handed to the driver as text.

SQLAlchemy finds the compiled form of a statement in a cache, but still spends nine tenths of a
small insert's time around it; so this goes straight to the driver. Its errors and rows are the
driver's own: only for statements whose results need no conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from msgspec import Struct
from sqlalchemy import ClauseElement, Connection, Dialect


class _Compiled(Struct, frozen=True):
    dialect: Dialect
    text: str
    pick: Callable[[Mapping[str, Any]], tuple[Any, ...]]  # the values in the statement's order
    converts: tuple[
        tuple[int, Callable[[Any], Any]], ...
    ]  # and which of them the driver can't take


class Prepared:
    """`keys` names the values of an insert; other statements name theirs by `bindparam`."""

    def __init__(self, statement: ClauseElement, keys: tuple[str, ...] | None = None) -> None:
        self._statement, self._keys = statement, keys
        self._compiled: _Compiled | None = None

    def __call__(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Execute; returns the driver's cursor."""
        compiled = self._compiled
        if compiled is None or compiled.dialect is not connection.dialect:
            compiled = self._compiled = self._compile(connection.dialect)
        given = list(compiled.pick(values))
        for place, convert in compiled.converts:
            given[place] = convert(given[place])
        driver: Any = connection.connection.dbapi_connection
        return driver.execute(compiled.text, given)

    def _compile(self, dialect: Dialect) -> _Compiled:
        keys = list(self._keys) if self._keys else None
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=keys)
        assert compiled.positional, "a driver with named parameters needs them as a mapping"
        names: list[str] = compiled.positiontup
        processors = [
            compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect)
            for name in names
        ]
        converts = tuple((place, each) for place, each in enumerate(processors) if each is not None)
        return _Compiled(dialect, str(compiled), _picker(names), converts)


def _picker(names: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    if len(names) == 1:  # of one, itemgetter makes no tuple
        return lambda values: (values[names[0]],)
    return itemgetter(*names)
