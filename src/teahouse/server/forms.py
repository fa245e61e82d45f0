"""What the routes read: one form a body. An unknown field is refused by its name."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from teahouse.core.i18n import Language
from teahouse.core.messages import PersonRole
from teahouse.llm.compare import CaseName
from teahouse.server.ports import ProviderDraft


class Form(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class SetUp(Form, frozen=True, kw_only=True):
    password: str
    name: str = ""
    language: Language | None = None


class Login(Form, frozen=True, kw_only=True):
    """Without a name the sole owner is meant."""

    password: str
    name: str | None = None


class NewPassword(Form, frozen=True, kw_only=True):
    old: str
    new: str


class NewPerson(Form, frozen=True, kw_only=True):
    """Without a password the person cannot log in until one is given."""

    name: str
    role: PersonRole = "member"
    password: str | None = None


class PersonChanges(Form, frozen=True, kw_only=True):
    role: PersonRole | UnsetType = UNSET
    password: str | UnsetType = UNSET


class NewKey(Form, frozen=True, kw_only=True):
    """Without scopes the key may do what its person may. A limit that is left out is none."""

    name: str
    scopes: tuple[str, ...] = ()
    budget: float | None = None  # US dollars a day (UTC)
    rate: int | None = None  # requests a minute
    concurrent: int | None = None


class NewConversation(Form, frozen=True, kw_only=True):
    agent: str
    title: str = ""


class ConversationEdit(Form, frozen=True, kw_only=True):
    """What is unset stays."""

    title: str | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


class NewMessage(Form, frozen=True, kw_only=True):
    """`agent` opens a new conversation. The same `client_id` again makes nothing new."""

    text: str
    conversation: str | None = None
    agent: str | None = None
    client_id: str | None = None
    files: tuple[str, ...] = ()
    reply_to: str | None = None
    model: str | None = None


class ModelQuestion(Form, frozen=True, kw_only=True):
    model: str | None = None
    provider: ProviderDraft | None = None


class ModelPair(Form, frozen=True, kw_only=True):
    """Two models, and the question of the suite that is put to both."""

    a: str
    b: str
    case: CaseName


class Pull(Form, frozen=True, kw_only=True):
    name: str = ""
