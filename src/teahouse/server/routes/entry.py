"""Before login and around it: health, status, setting up, logging in and out."""

from __future__ import annotations

import hmac

from litestar import Response, get, post
from litestar.params import JSONBody

from teahouse.core.errors import NotAllowed
from teahouse.core.i18n import LANGUAGES
from teahouse.server.answers import Health, PersonView, Status
from teahouse.server.body import Request
from teahouse.server.credentials import (
    credential_of,
    identify,
    no_cookie,
    session_cookie,
)
from teahouse.server.forms import Login, NewPassword, SetUp
from teahouse.server.gate import from_this_machine
from teahouse.server.ports import House

SMALL = 16 << 10  # bytes that a stranger may send


@get("/healthz", open=True)
async def health() -> Health:
    return Health()


@get("/api/status", open=True)
async def status(request: Request) -> Status:
    house = request.house
    credential = credential_of(request)
    person = await identify(house.accounts, credential) if credential else None
    return Status(
        version=house.version,
        set_up=person is not None or await house.accounts.is_set_up(),
        logged_in=person is not None,
        language=house.language,
        languages=LANGUAGES,
    )


@post("/api/setup", open=True, status_code=200, request_max_body_size=SMALL)
async def set_up(request: Request, data: JSONBody[SetUp]) -> Response[PersonView]:
    """Make the owner. Only from this machine, or with the token that the console printed."""
    house = request.house
    token = house.setup_token
    given = request.headers.get("x-setup-token", "")
    proven = bool(token) and hmac.compare_digest(given.encode(), str(token).encode())
    if not proven and not from_this_machine(request.scope):
        raise NotAllowed("setup_elsewhere")
    owner = await house.accounts.set_up(data.password, data.name)
    await _speak(house, data)
    await house.directory.ensure_starters(owner, data.language or house.language)
    session = await house.accounts.session_for(owner)
    return Response(PersonView.of(owner), cookies=[session_cookie(session)])


@post("/api/login", open=True, status_code=200, request_max_body_size=SMALL)
async def login(request: Request, data: JSONBody[Login]) -> Response[PersonView]:
    token, person = await request.house.accounts.login(data.password, data.name, request.peer)
    return Response(PersonView.of(person), cookies=[session_cookie(token)])


@post("/api/logout", status_code=204)
async def logout(request: Request) -> Response[None]:
    if request.auth.kind == "cookie":
        await request.house.accounts.logout(request.auth.secret)
    return Response(None, status_code=204, cookies=[no_cookie()])


@get("/api/me")
async def me(request: Request) -> PersonView:
    return PersonView.of(request.person)


@post("/api/me/password", status_code=200)
async def change_password(request: Request, data: JSONBody[NewPassword]) -> Response[PersonView]:
    """Ends every session of the person; the one that asked gets a new one."""
    accounts = request.house.accounts
    person = await accounts.change_password(request.person, data.old, data.new)
    if request.auth.kind == "key":
        return Response(PersonView.of(person))
    session = await accounts.session_for(person)
    return Response(PersonView.of(person), cookies=[session_cookie(session)])


async def _speak(house: House, data: SetUp) -> None:
    """Keep the chosen language, unless the environment has fixed another one."""
    if data.language and "language" not in house.settings.public().get("locked", ()):
        await house.settings.patch({"language": data.language})


HANDLERS = (health, status, set_up, login, logout, me, change_password)
