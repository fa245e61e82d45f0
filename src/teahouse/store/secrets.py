"""Keys and passwords of other houses, sealed with AES-GCM under the home's own key.

The name is sealed with the value: a row moved under another name does not open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, delete, insert, select

from teahouse.chat.ports import Secrets
from teahouse.core.errors import SettingsError
from teahouse.core.ids import new_bytes
from teahouse.store.database import Database
from teahouse.store.schema import secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12
_DELETE = delete(secret).where(secret.c.name == bindparam("named"))
_SELECT = select(secret.c.sealed).where(secret.c.name == bindparam("named"))


class SealedSecrets(Secrets):
    def __init__(self, database: Database, key: bytes) -> None:
        self._write, self._read = database.write, database.read
        self._clock, self._key = database.clock, key

    async def put(self, name: str, value: str, /) -> None:
        nonce = new_bytes(_NONCE)
        sealed = nonce + self._cipher().encrypt(nonce, value.encode(), name.encode())
        values = {"name": name, "sealed": sealed, "updated_at": self._clock.now()}

        def work(connection: Connection) -> None:
            connection.execute(_DELETE, {"named": name})
            connection.execute(insert(secret), values)

        await self._write(work, forget=True)

    async def get(self, name: str, /) -> str | None:
        sealed = await self._read(lambda c: c.execute(_SELECT, {"named": name}).scalar())
        if sealed is None:
            return None
        from cryptography.exceptions import InvalidTag

        try:
            opened = self._cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], name.encode())
        except InvalidTag as error:
            raise SettingsError("secret_unreadable", name=name) from error
        return opened.decode()

    async def remove(self, name: str, /) -> None:
        await self._write(lambda c: c.execute(_DELETE, {"named": name}).rowcount, forget=True)

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key)
