"""Of a call that stood in for another model's: which model that was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("provider_call", sa.Column("instead_of", sa.Text(), nullable=True))
