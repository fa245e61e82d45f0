"""Tokens that a call has written into a vendor's cache. Of earlier calls nobody counted them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    column = sa.Column("written", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("provider_call", column)
