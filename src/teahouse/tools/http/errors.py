"""How a call of an HTTP tool fails: in words for the model, which never hold a secret."""

from __future__ import annotations

from teahouse.tools.refusal import Refused


class HttpRefused(Refused):
    pass
