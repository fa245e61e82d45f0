"""Makes a tool of a Python function: its name, docstring and types say what the model must know."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast, get_type_hints, overload

import msgspec
from msgspec import NODEFAULT, Struct

from teahouse.core.codec import encode
from teahouse.core.errors import ToolFailed
from teahouse.core.events import Effect
from teahouse.core.messages import Blob, JsonObject, Text
from teahouse.llm.provider import ToolSpec
from teahouse.llm.tool import Content, Tool, ToolContext

Function: TypeAlias = Callable[..., Any]

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises):?$")
_PARAMETER = re.compile(r"^(?::param )?(\w+)(?: \([^)]*\))?:\s*(.+)$")


@overload
def as_tool(function: Function, /) -> Tool: ...
@overload
def as_tool(
    *, repeatable: bool = False, effect: Effect | None = None
) -> Callable[[Function], Tool]: ...
def as_tool(
    function: Function | None = None,
    /,
    *,
    repeatable: bool = False,
    effect: Effect | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Decorate a typed function with `@as_tool` or `@as_tool(repeatable=True)`.

    It may be async; else it runs in a thread. What it returns is told as text, or as JSON where it
    is none. A parameter of type `ToolContext` is filled in and not shown to the model. It may raise
    `ToolFailed` with a text for the model. `effect` is for whoever asks people before a call.
    """

    def made(function: Function) -> Tool:
        return _FunctionTool(function, repeatable=repeatable, effect=effect)

    return made if function is None else made(function)


class _FunctionTool:
    def __init__(self, function: Function, *, repeatable: bool, effect: Effect | None) -> None:
        self.function, self.repeatable, self.effect = function, repeatable, effect
        parameters = inspect.signature(function).parameters
        hints = get_type_hints(function, include_extras=True)
        self._context = [name for name in parameters if hints.get(name) is ToolContext]
        shown = {name: one for name, one in parameters.items() if name not in self._context}
        description, told = _read(function.__doc__ or "", set(shown))
        self._arguments = msgspec.defstruct(
            function.__name__,
            [
                (name, hints.get(name, Any), NODEFAULT if one.default is one.empty else one.default)
                for name, one in shown.items()
            ],
            kw_only=True,
            forbid_unknown_fields=True,
        )
        self.spec = ToolSpec(
            name=function.__name__,
            description=description,
            parameters=_schema(self._arguments, told),
        )

    async def __call__(self, arguments: JsonObject, context: ToolContext, /) -> Content:
        try:
            given = msgspec.convert(arguments, self._arguments, strict=False)
        except msgspec.ValidationError as error:
            raise ToolFailed(str(error)) from error
        values: dict[str, Any] = {
            name: getattr(given, name) for name in self._arguments.__struct_fields__
        }
        values |= dict.fromkeys(self._context, context)
        if inspect.iscoroutinefunction(self.function):
            result = await self.function(**values)
        else:
            result = await asyncio.to_thread(self.function, **values)
        return _content(result)


def _content(result: object) -> Content:
    if isinstance(result, str):
        return (Text(text=result),)
    several = cast("tuple[object, ...]", result if isinstance(result, tuple) else (result,))
    content = tuple(one for one in several if isinstance(one, Text | Blob))
    if content and len(content) == len(several):
        return content
    return (Text(text=encode(result).decode()),)


def _schema(arguments: type[Struct], told: dict[str, str]) -> JsonObject:
    whole: JsonObject = msgspec.json.schema(arguments)
    definitions: JsonObject = whole["$defs"]
    schema: JsonObject = definitions.pop(arguments.__name__)
    schema.pop("title", None)
    for name, words in told.items():
        schema["properties"][name].setdefault("description", words)
    if definitions:
        schema["$defs"] = definitions
    return schema


def _read(docstring: str, names: set[str]) -> tuple[str, dict[str, str]]:
    """What a docstring says of the whole, and of each parameter: `name: words`, one a line."""
    general: list[str] = []
    told: dict[str, str] = {}
    in_general = True
    for line in inspect.cleandoc(docstring).splitlines():
        found = _PARAMETER.match(line.strip())
        if found and found[1] in names:
            told[found[1]], in_general = found[2], False
        elif _SECTION.match(line.strip()):
            in_general = False
        elif in_general:
            general.append(line)
    return "\n".join(general).strip(), told
