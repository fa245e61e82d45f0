"""Logging in at a remote server: a person opens a page, and what it brings is kept sealed.

The flow is the SDK's. What it earned belongs to one address: another gets none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from msgspec import Struct
from pydantic import AnyUrl, BaseModel

from teahouse.tools.mcp.errors import McpFailed
from teahouse.tools.mcp.ports import House, Vault
from teahouse.tools.mcp.settings import ServerSettings

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})

Waiting = Callable[[str | None], None]
"""Told the page that a person has to open, and None when that is over."""


class Returned(Struct, frozen=True, kw_only=True):
    """What the person's browser brought back."""

    state: str
    code: str
    issuer: str | None = None


class _Kept(Struct):
    url: str
    value: dict[str, Any]


class Login:
    """One at a time; `finish` takes what came back, if it is this one's."""

    def __init__(self, name: str, settings: ServerSettings, house: House, waiting: Waiting) -> None:
        self._name, self._settings, self._house, self._waiting = name, settings, house, waiting
        self._state: str | None = None
        self._returned: asyncio.Future[Returned] | None = None

    def auth(self) -> OAuthClientProvider:
        settings = self._settings
        assert settings.url is not None
        return OAuthClientProvider(
            server_url=settings.url,
            client_metadata=OAuthClientMetadata(
                client_name="Teahouse",
                redirect_uris=[AnyUrl(self._house.callback)],
                grant_types=["authorization_code", "refresh_token"],
            ),
            storage=_Storage(self._name, settings, self._house),
            redirect_handler=self._ask,
            callback_handler=self._answer,
            client_metadata_url=self._house.client_document,
        )

    def finish(self, returned: Returned) -> bool:
        waits = self._returned
        if waits is None or waits.done() or returned.state != self._state:
            return False
        waits.set_result(returned)
        return True

    async def _ask(self, url: str) -> None:
        """The page's address is the server's word: only the web may be opened."""
        parts = urlsplit(url)
        secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
        if not secure or not parts.hostname:
            raise McpFailed("mcp_login_page", server=self._name)
        self._state = parse_qs(parts.query).get("state", [""])[-1]
        self._returned = asyncio.get_running_loop().create_future()
        self._waiting(url)

    async def _answer(self) -> AuthorizationCodeResult:
        assert self._returned is not None
        try:
            async with asyncio.timeout(self._house.limits.login_s):
                found = await self._returned
        except TimeoutError as error:
            raise McpFailed("mcp_login_late", server=self._name) from error
        finally:
            self._returned = None
            self._waiting(None)
        return AuthorizationCodeResult(code=found.code, state=found.state, iss=found.issuer)


class _Storage:
    """The SDK's `TokenStorage` over our vault."""

    def __init__(self, name: str, settings: ServerSettings, house: House) -> None:
        self._name, self._settings = name, settings
        self._vault: Vault = house.vault
        self._callback = house.callback

    async def get_tokens(self) -> OAuthToken | None:
        found = await self._get("tokens")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        await self._put("tokens", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        settings = self._settings
        if settings.client_id:
            return OAuthClientInformationFull(
                client_id=settings.client_id,
                client_secret=settings.client_secret,
                redirect_uris=[AnyUrl(self._callback)],
                token_endpoint_auth_method="client_secret_basic"
                if settings.client_secret
                else "none",
            )
        found = await self._get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._put("client", client_info)

    async def _get(self, what: str) -> dict[str, Any] | None:
        text = await self._vault.get(f"mcp/{self._name}/{what}")
        if text is None:
            return None
        kept = msgspec.json.decode(text, type=_Kept)
        return kept.value if kept.url == self._settings.url else None

    async def _put(self, what: str, value: BaseModel) -> None:
        told = value.model_dump(mode="json", exclude_none=True)
        kept = _Kept(url=self._settings.url or "", value=told)
        await self._vault.put(f"mcp/{self._name}/{what}", msgspec.json.encode(kept).decode())
