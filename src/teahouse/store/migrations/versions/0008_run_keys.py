"""The key that a run was asked for with, and its budget. Runs from before were nobody's but their
person's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("run", sa.Column("key", sa.Text(), nullable=True))
    op.add_column("run", sa.Column("allowance", sa.Float(), nullable=True))
