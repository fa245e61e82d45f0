"""Models of every vendor behind one door; the guide is `docs/library.md`.

The names here load when they are first used: importing this loads no server and no HTTP client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from teahouse.core.errors import ProviderError, ToolFailed
    from teahouse.core.events import PartDelta, PartDone, ReplyDone, ToolFinished, ToolStarted
    from teahouse.core.messages import Blob, Message, Text, Thinking, ToolCall, ToolResult, Usage
    from teahouse.llm.chat import Chat
    from teahouse.llm.client import Client
    from teahouse.llm.connection import Model, connect
    from teahouse.llm.function import as_tool
    from teahouse.llm.history import History, MemoryHistory, find_history
    from teahouse.llm.loop import Limits, run_loop
    from teahouse.llm.provider import ModelRequest, OneTool, Provider, ToolSpec
    from teahouse.llm.providers import build_provider
    from teahouse.llm.settings import ProviderSettings, Timeouts
    from teahouse.llm.tool import Tool, ToolContext
    from teahouse.llm.transport import Transport

__all__ = [
    "Blob",
    "Chat",
    "Client",
    "History",
    "Limits",
    "MemoryHistory",
    "Message",
    "Model",
    "ModelRequest",
    "OneTool",
    "PartDelta",
    "PartDone",
    "Provider",
    "ProviderError",
    "ProviderSettings",
    "ReplyDone",
    "Text",
    "Thinking",
    "Timeouts",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolFailed",
    "ToolFinished",
    "ToolResult",
    "ToolSpec",
    "ToolStarted",
    "Transport",
    "Usage",
    "as_tool",
    "build_provider",
    "connect",
    "find_history",
    "run_loop",
]

_LIES_IN: Final = {
    "core.errors": "ProviderError ToolFailed",
    "core.events": "PartDelta PartDone ReplyDone ToolFinished ToolStarted",
    "core.messages": "Blob Message Text Thinking ToolCall ToolResult Usage",
    "llm.chat": "Chat",
    "llm.client": "Client",
    "llm.connection": "Model connect",
    "llm.function": "as_tool",
    "llm.history": "History MemoryHistory find_history",
    "llm.loop": "Limits run_loop",
    "llm.provider": "ModelRequest OneTool Provider ToolSpec",
    "llm.providers": "build_provider",
    "llm.settings": "ProviderSettings Timeouts",
    "llm.tool": "Tool ToolContext",
    "llm.transport": "Transport",
}
_MODULE_OF: Final = {
    name: f"teahouse.{module}" for module, names in _LIES_IN.items() for name in names.split()
}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(module), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
