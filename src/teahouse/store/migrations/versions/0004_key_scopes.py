"""Keys that may do less than their person, and only so much of it. Keys from before may all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for column in (
        sa.Column("scopes", sa.Text(), nullable=False, server_default="[]"),
        sa.Column("budget", sa.Float(), nullable=True),
        sa.Column("rate", sa.Integer(), nullable=True),
        sa.Column("concurrent", sa.Integer(), nullable=True),
    ):
        op.add_column("api_key", column)
