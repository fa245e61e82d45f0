"""The tree of settings: each is declared here once, with its type and its default.

What a setting is for stands in `locales/*/cli.json` under `setting.KEY`; the page, `--help` and
the reference are made from both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

from teahouse.core.i18n import Language
from teahouse.llm.settings import BreakerSettings, BudgetLimits, RateLimits, Timeouts, WireName
from teahouse.tools.egress import EgressRules


class SecretRef(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Stands in the file where a sealed value is meant; `secret` is its name in the store."""

    secret: str


Secret: TypeAlias = str | SecretRef


class Server(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8788
    names: tuple[str, ...] = ()


class Provider(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the file says of an endpoint: `llm.settings.ProviderSettings`, secrets still sealed."""

    wire: WireName | None = None
    vendor: str = "custom"
    base_url: str | None = None
    api_key: Secret | None = None
    headers: dict[str, Secret] = field(default_factory=dict[str, Secret])
    models: tuple[str, ...] = ()
    quirks: dict[str, Any] = field(default_factory=dict[str, Any])
    timeouts: Timeouts = Timeouts()
    limits: RateLimits = RateLimits()
    api_keys: dict[str, Secret] = field(default_factory=dict[str, Secret])

    def __repr__(self) -> str:  # settings end up in logs, keys must not
        return f"Provider(wire={self.wire!r}, base_url={self.base_url!r})"


Weight: TypeAlias = Annotated[float, Meta(ge=0, le=1_000_000)]
Tokens: TypeAlias = Annotated[int, Meta(ge=256, le=100_000_000)]
Price: TypeAlias = Annotated[
    tuple[Annotated[float, Meta(ge=0, le=1_000_000)], ...], Meta(min_length=2, max_length=4)
]
"""US dollars per million tokens: input, output, and where they have prices of their own, input read
from a cache and input written into it."""


class LocalModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    enabled: bool = True
    name: Literal["qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"] = "qwen2.5-coder-0.5b"
    start: Literal["lazy", "eager"] = "eager"
    threads: Annotated[int, Meta(ge=0, le=1024)] = 0
    context: Annotated[int, Meta(ge=512, le=1_048_576)] = 8192
    folder: str = "~/.cache/teahouse/models"


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    steps: Annotated[int, Meta(ge=1, le=1000)] = 25
    repeats: Annotated[int, Meta(ge=1, le=100)] = 3
    wall_s: Annotated[float, Meta(gt=0, le=86_400)] = 600.0


class Approvals(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    wait_s: Annotated[float, Meta(gt=0, le=604_800)] = 600.0


class Context(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    policy: Literal["cut", "summarise"] = "cut"
    summary_model: str | None = None


class Log(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    level: Literal["debug", "info", "warning", "error"] = "info"
    json: bool = False


class Telemetry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where traces and metrics are sent, if anywhere; none of it holds what was said, unless
    `content` says so."""

    otlp_endpoint: str | None = None
    headers: dict[str, Secret] = field(default_factory=dict[str, Secret])
    content: bool = False
    sample: Annotated[float, Meta(ge=0, le=1)] = 1.0


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the file says of a server: `tools.mcp.settings.ServerSettings`, secrets still sealed."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, Secret] = field(default_factory=dict[str, Secret])
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, Secret] = field(default_factory=dict[str, Secret])
    client_id: str | None = None
    client_secret: Secret | None = None
    enabled: bool = True
    timeout_s: Annotated[float, Meta(gt=0, le=86_400)] = 120.0

    def __repr__(self) -> str:
        return f"McpServer(command={self.command!r}, url={self.url!r})"


class Mcp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    servers: dict[str, McpServer] = field(default_factory=dict[str, McpServer])


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings in force. `home` is no setting: it says where the others were found."""

    home: Path
    language: Language | None = None
    default_model: str | None = None
    owner_password: str | None = None
    server: Server = Server()
    providers: dict[str, Provider] = field(default_factory=dict[str, Provider])
    prices: dict[str, Price] = field(default_factory=dict[str, Price])
    windows: dict[str, Tokens] = field(default_factory=dict[str, Tokens])
    aliases: dict[str, dict[str, Weight]] = field(default_factory=dict[str, dict[str, Weight]])
    fallbacks: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    breaker: BreakerSettings = BreakerSettings()
    budgets: BudgetLimits = BudgetLimits()
    pipeline: tuple[str, ...] = ()
    middleware: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    local_model: LocalModel = LocalModel()
    limits: Limits = Limits()
    approvals: Approvals = Approvals()
    context: Context = Context()
    log: Log = Log()
    telemetry: Telemetry = Telemetry()
    mcp: Mcp = Mcp()
    egress: EgressRules = EgressRules()

    def __repr__(self) -> str:
        return f"Config(home={str(self.home)!r}, providers={list(self.providers)})"


ENVIRONMENT_ONLY = frozenset({("owner_password",)})
"""Never in a file: a password that lies there is a password lost."""
