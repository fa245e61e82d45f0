"""What the routes answer where that is less than, or other than, the value itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeVar

from msgspec import Struct

from teahouse.chat.ports import ApiKey, FileRecord, Page, Run
from teahouse.core.i18n import Language
from teahouse.core.messages import Person, PersonRole, Post

T = TypeVar("T")


class Failure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`retryable`: the same may work when it is tried again, now or after a while."""

    code: str
    message: str
    retryable: bool
    hint: str | None = None


class Failed(Struct, frozen=True, kw_only=True):
    error: Failure


class Health(Struct, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


class Status(Struct, frozen=True, kw_only=True):
    """What the page may know before login. `language` is the house's."""

    version: str
    set_up: bool
    logged_in: bool
    language: Language
    languages: tuple[Language, ...]


class PersonView(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    role: PersonRole
    created_at: datetime

    @classmethod
    def of(cls, person: Person) -> PersonView:
        return cls(id=person.id, name=person.name, role=person.role, created_at=person.created_at)


class KeyView(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None
    scopes: tuple[str, ...]
    budget: float | None  # US dollars a day (UTC)
    rate: int | None  # requests a minute
    concurrent: int | None
    spent: float  # US dollars today (UTC), as far as prices are known

    @classmethod
    def of(cls, key: ApiKey, spent: float) -> KeyView:
        return cls(
            id=key.id,
            name=key.name,
            created_at=key.created_at,
            last_used_at=key.last_used_at,
            scopes=key.scopes,
            budget=key.budget,
            rate=key.rate,
            concurrent=key.concurrent,
            spent=spent,
        )


class NewKeyView(Struct, frozen=True, kw_only=True):
    """`key` is shown this once."""

    id: str
    name: str
    key: str


class FileView(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    media_type: str
    size: int  # bytes
    created_at: datetime

    @classmethod
    def of(cls, file: FileRecord) -> FileView:
        return cls(
            id=file.id,
            name=file.name,
            media_type=file.media_type,
            size=file.size,
            created_at=file.created_at,
        )


class Accepted(Struct, frozen=True, kw_only=True):
    post: Post
    runs: tuple[Run, ...]


def whole(items: Sequence[T]) -> Page[T]:
    """A list that is never cut."""
    return Page(items=tuple(items))
