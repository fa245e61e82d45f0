"""What the server needs of the house it opens to the web; `app` builds it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field

from teahouse.agent.approval import Desk
from teahouse.agent.directory import Directory
from teahouse.agent.finder import ToolOfAgent
from teahouse.chat.ports import Files
from teahouse.core.events import StreamEvent
from teahouse.core.i18n import Language
from teahouse.core.messages import AgentId, JsonObject, Person
from teahouse.llm.compare import CaseName, Comparison
from teahouse.llm.embedding import Embedded, EmbedRequest
from teahouse.llm.pictures import Painted, PictureRequest
from teahouse.llm.provider import ModelRequest
from teahouse.llm.speech import Sound, SpeechRequest, Transcribed, TranscriptionRequest
from teahouse.llm.usage import Caller, UsageSums

if TYPE_CHECKING:
    from teahouse.chat.accounts import Accounts
    from teahouse.chat.service import Chat


class Settings(Protocol):
    def public(self) -> JsonObject:
        """The settings in force, secrets masked as `••••1234`; `locked` lists the dotted keys that
        the environment fixes."""
        ...

    async def patch(self, changes: JsonObject, /) -> JsonObject:
        """Take dotted or nested `changes`, keep them, and answer like `public`. Raises
        `SettingsError` for an unknown key, a wrong value or a locked key: then nothing changes."""
        ...


class ModelEntry(Struct, frozen=True, kw_only=True):
    """A model that may be chosen. `note` says in the reader's words why it is not `ready`.

    Prices are in US dollars per million tokens, None where they are not known.
    """

    id: str  # vendor/model
    provider: str
    context_window: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    vision: bool | None = None
    local: bool = False
    ready: bool = True
    note: str | None = None


class ProviderDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider as somebody is about to enter it, to be tried before it is kept.

    `vendor` names a row of `llm.vendors`, which says what `base_url` and `wire` leave out.
    """

    name: str
    vendor: str | None = None
    base_url: str | None = None
    wire: str | None = None
    api_key: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Trial(Struct, frozen=True, kw_only=True):
    """How a model did on one short question. `problem` says why it did not answer."""

    ok: bool
    model: str
    first_token_ms: int | None = None
    total_ms: int | None = None
    text: str = ""
    problem: str | None = None


class LocalStatus(Struct, frozen=True, kw_only=True):
    """Where the local model stands; `progress` from 0 to 1 while it is `pulling`."""

    state: Literal["absent", "pulling", "ready", "starting", "running", "failed"]
    progress: float | None = None
    bytes: int = 0
    total: int = 0
    problem: str | None = None
    file: str | None = None


class Models(Protocol):
    async def list(self) -> Sequence[ModelEntry]: ...

    async def test(self, model: str | None, draft: ProviderDraft | None, /) -> Trial:
        """Ask a model, or one of a provider not yet kept, a short question. A refusal is no error,
        it is the answer."""
        ...

    async def check(self, a: str, b: str, case: CaseName, /) -> Comparison:
        """Put one question of the suite to both. Raises `NoSuchModel`; what the models themselves
        answer, errors too, is in the comparison."""
        ...

    async def status(self) -> LocalStatus: ...

    async def pull(self, name: str, /) -> None:
        """Begin to fetch the model file in the background; "" means the usual one."""
        ...


class Inference(Protocol):
    """The way to every model and agent by name, for programs."""

    def stream(
        self, model: str | None, request: ModelRequest, caller: Caller, /
    ) -> AsyncGenerator[Sequence[StreamEvent], None]:
        """Stream one reply of `PROVIDER/MODEL`, an alias, or `agent/NAME`; None is the default
        model. Raises `ProviderError`, and `NotFound` for an agent that the person may not use."""
        ...

    async def embed(self, model: str, request: EmbedRequest, caller: Caller, /) -> Embedded: ...

    def speak(
        self, model: str, request: SpeechRequest, caller: Caller, /
    ) -> AsyncGenerator[Sound, None]: ...

    async def transcribe(
        self, model: str, request: TranscriptionRequest, caller: Caller, /
    ) -> Transcribed: ...

    async def paint(self, model: str, request: PictureRequest, caller: Caller, /) -> Painted: ...

    async def models(self, person: Person, /) -> Sequence[ModelEntry]:
        """All that `stream` takes, the agents of this person among them."""
        ...


class House(Protocol):
    """Everything behind the door. `language` is the house's at this moment."""

    @property
    def chat(self) -> Chat: ...
    @property
    def accounts(self) -> Accounts: ...
    @property
    def directory(self) -> Directory: ...
    @property
    def desk(self) -> Desk: ...
    @property
    def files(self) -> Files: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def models(self) -> Models: ...
    @property
    def inference(self) -> Inference: ...
    @property
    def usage(self) -> UsageSums: ...
    async def tools_of(self, person: Person, agent: AgentId, /) -> Sequence[ToolOfAgent]:
        """Every tool, and whether the agent may use it. Raises `NotFound`."""
        ...

    @property
    def language(self) -> Language: ...
    @property
    def version(self) -> str: ...
    @property
    def hosts(self) -> Collection[str]:
        """Names by which browsers may call this house, besides loopback names and addresses."""
        ...

    @property
    def setup_token(self) -> str | None:
        """What the console printed for setting up from another machine."""
        ...
