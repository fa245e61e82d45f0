"""The contract of every store, run against ours on SQLite."""

from __future__ import annotations

import pytest

from teahouse.testing.contract.store import StoreContract


class TestSqlite(StoreContract):
    pytestmark = pytest.mark.anyio
