"""One tree of errors. The type says what kind it is, the stable public `code` which one exactly.

TeahouseError
├── Invalid             bad input                                              400
├── Unauthenticated     nobody is logged in, or the key is wrong               401
├── NotAllowed          known person, but the role does not reach              403
├── NotFound            no such thing, or not yours to see                     404
├── Conflict            it is there already, or has changed meanwhile          409
├── TooLarge            the body or file exceeds a limit                       413
├── TooManyAttempts     throttled; `retry_after_s` says how long               429
├── StorageFull         the disk took no more; what was acknowledged is safe   507
├── StorageDamaged      the database or its key cannot be trusted              500
├── HomeInUse           another process writes this home             exit code 3
├── SettingsError       a setting is unknown or has a wrong value              400
├── ModelFileError      the local model file cannot be had, or is damaged      502
├── ToolFailed          raised in a tool: the model reads the text and may adapt
└── ProviderError       a model's endpoint; see `llm.errors` for its branches  502

The words stand in `locales/*/errors.json` under `CODE` (what was wrong, with which value) and
`CODE.hint` (what to do), so that a person reads them in their own language.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from teahouse.core import i18n

_ENDS = tuple(".!?:;…。！？：；")


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error as a fact that can be stored, sent and shown.

    `retryable`: the same may work when it is tried again, now or after a while.
    """

    code: str
    message: str
    hint: str | None = None
    retryable: bool = False
    values: dict[str, str] = field(default_factory=dict[str, str])


def told(message: str, hint: str | None) -> str:
    """What was wrong and what to do, as one text, for those who show no two."""
    if not hint:
        return message
    chinese = hint[0] > "\u2e80"
    if message[-1:] not in _ENDS:  # the last words are somebody else's
        message += "。" if chinese else "."
    return message + hint if chinese else f"{message} {hint}"


class TeahouseError(Exception):
    """`code` is the key of the words, `values` fill their holes.

    `retryable`: the same may work in a moment. `passes`: it may after a while, or for another, but
    nothing is gained by trying at once.
    """

    retryable: ClassVar[bool] = False
    passes: ClassVar[bool] = False

    def __init__(self, code: str, /, **values: object) -> None:
        self.code = code
        self.values = {name: str(value) for name, value in values.items()}
        super().__init__(self.problem().message)

    def problem(self, language: i18n.Language = i18n.DEFAULT) -> Problem:
        key = f"errors.{self.code}"
        hint = f"{key}.hint"
        return Problem(
            code=self.code,
            message=i18n.text(language, key, **self.values),
            hint=i18n.text(language, hint, **self.values) if i18n.has(hint) else None,
            retryable=self.retryable or self.passes,
            values=self.values,
        )


class Invalid(TeahouseError):
    pass


class Unauthenticated(TeahouseError):
    pass


class NotAllowed(TeahouseError):
    pass


class NotFound(TeahouseError):
    pass


class Conflict(TeahouseError):
    pass


class TooLarge(TeahouseError):
    pass


class TooManyAttempts(TeahouseError):
    passes = True

    def __init__(self, code: str, /, *, retry_after_s: float, **values: object) -> None:
        super().__init__(code, retry_after_s=round(retry_after_s), **values)
        self.retry_after_s = retry_after_s


class StorageFull(TeahouseError):
    passes = True


class StorageDamaged(TeahouseError):
    pass


class HomeInUse(TeahouseError):
    pass


class SettingsError(TeahouseError):
    pass


class ModelFileError(TeahouseError):
    pass


class ToolFailed(TeahouseError):
    def __init__(self, text: str, /) -> None:
        super().__init__("tool_failed", text=text)
        self.text = text


class ProviderError(TeahouseError):
    """An endpoint refused, broke or fell silent. What is `retryable` is tried again by itself, as
    long as nothing was shown."""
