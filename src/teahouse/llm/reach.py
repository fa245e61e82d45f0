"""The way to what only some vendors have, through whatever is wrapped around their provider.

A wrapper (a pool of keys, a keeper of secrets, a model that must be started first) names none of
these ports: it says once how it asks what is inside, and `stream` goes that way as well.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from teahouse.core.errors import ProviderError
from teahouse.llm.provider import Provider

Item = TypeVar("Item")
Port = TypeVar("Port")
Ask: TypeAlias = Callable[[Provider], AsyncGenerator[Item, None]]


@runtime_checkable
class Wrapper(Protocol):
    """A provider that is wrapped around another one, or around several."""

    def through(self, ask: Ask[Item], /) -> AsyncGenerator[Item, None]:
        """What `ask` makes of that which is inside, asked as for `stream`."""
        ...


def reach(
    provider: Provider,
    port: type[Port],
    ask: Callable[[Port], AsyncGenerator[Item, None]],
    lacking: ProviderError,
) -> AsyncGenerator[Item, None]:
    """Ask the innermost provider, which must have `port`; raises `lacking` where it has not."""
    if isinstance(provider, Wrapper):
        return provider.through(lambda inner: reach(inner, port, ask, lacking))
    if not isinstance(provider, port):
        raise lacking
    return ask(provider)
