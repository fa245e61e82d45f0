"""The middlewares that settings may name: those that come along, and those of others."""

from __future__ import annotations

import logging as logs
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from teahouse.core.errors import SettingsError
from teahouse.llm.pipeline import Call, Middleware, Pipeline, Stages
from teahouse.llm.reply_cache import cache
from teahouse.llm.word_filter import word_filter

log = logs.getLogger(__name__)

GROUP = "teahouse.middleware"


def logging(options: Mapping[str, Any]) -> Stages:
    """Says in the log when a call begins and how it ends; nothing of what was said."""

    async def before_call(call: Call) -> Call:
        request = call.request
        log.info("%s: %d messages, %d tools", call.model, len(request.messages), len(request.tools))
        return call

    def on_finish(call: Call, error: BaseException | None) -> None:
        log.info("%s: %s", call.model, "answered" if error is None else type(error).__name__)

    return Stages(before_call=before_call, on_finish=on_finish)


SHIPPED: Final[Mapping[str, Middleware]] = {
    "cache": cache,
    "logging": logging,
    "word_filter": word_filter,
}


def build_pipeline(names: Sequence[str], options: Mapping[str, Mapping[str, Any]]) -> Pipeline:
    """The named middlewares, each with its options. Raises `SettingsError`."""
    return Pipeline([_stages(name, options.get(name, {})) for name in names])


def _stages(name: str, options: Mapping[str, Any]) -> Stages:
    try:
        return _find(name)(options)
    except msgspec.ValidationError as error:
        raise SettingsError("middleware_options", name=name, detail=error) from error


def _find(name: str) -> Middleware:
    found = SHIPPED.get(name)
    if found is not None:
        return found
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        return cast("Middleware", point.load())
    known = ", ".join(sorted({*SHIPPED, *(point.name for point in entry_points(group=GROUP))}))
    raise SettingsError("middleware_unknown", name=name, known=known)
