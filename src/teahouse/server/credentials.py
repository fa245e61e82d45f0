"""Who asks: one resolver for the cookie and the key, used by routes, socket and streams alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie
from litestar.handlers import BaseRouteHandler
from msgspec import Struct

from teahouse.chat.keys import is_whole
from teahouse.chat.ports import ApiKey, Identity
from teahouse.chat.scopes import may_use_api, refused
from teahouse.core.errors import NotAllowed, Unauthenticated

if TYPE_CHECKING:
    from teahouse.chat.accounts import Accounts

COOKIE = "teahouse_session"
COOKIE_S = 30 * 86_400  # the server ends the session, not the cookie
MANAGERS = ("owner", "admin")


class Credential(Struct, frozen=True):
    kind: Literal["cookie", "key"]
    secret: str


def credential_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Credential | None:
    """A header that is there is what counts: a wrong key never falls back on a cookie."""
    header = connection.headers.get("authorization")
    if header is not None:
        scheme, _, key = header.partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise Unauthenticated("key_wrong")
        return Credential("key", key.strip())
    token = connection.cookies.get(COOKIE)
    return Credential("cookie", token) if token else None


async def identify(accounts: Accounts, credential: Credential) -> Identity | None:
    """Who it is as of now: a session that ended or a key that was removed is nobody's."""
    if credential.kind == "key":
        return await accounts.by_key(credential.secret)
    person = await accounts.by_token(credential.secret)
    return Identity(person) if person is not None else None


async def require_person(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """The guard of every route: closed, unless the route itself says `open`; `managers` and
    `whole_keys` close it further. The socket and the streams are routes as well."""
    if handler.opt.get("open"):
        return
    credential = credential_of(connection)
    if credential is None:
        raise Unauthenticated("not_logged_in")
    identity = await identify(connection.app.state.house.accounts, credential)
    if identity is None:
        raise Unauthenticated("key_wrong" if credential.kind == "key" else "session_ended")
    if identity.key is not None:
        _reaches(identity.key, handler)
    if handler.opt.get("managers") and identity.person.role not in MANAGERS:
        raise NotAllowed("managers_only")
    connection.scope["user"] = identity
    connection.scope["auth"] = credential


def _reaches(key: ApiKey, handler: BaseRouteHandler) -> None:
    if not may_use_api(key.scopes):
        raise refused(key.scopes, "api")
    # With a new key it could give itself what it lacks.
    if handler.opt.get("whole_keys") and not is_whole(key):
        raise NotAllowed("key_makes_no_keys")


def session_cookie(token: str) -> Cookie:
    return Cookie(
        key=COOKIE, value=token, httponly=True, samesite="strict", path="/", max_age=COOKIE_S
    )


def no_cookie() -> Cookie:
    return Cookie(key=COOKIE, value="", httponly=True, samesite="strict", path="/", max_age=0)
