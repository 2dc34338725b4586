"""What the API server says when it says no: a value with the fields it complains of.

A refusal comes in several shapes. Validation lists its causes, in an order that changes from run to run; decoding and
server-side apply put the fields into the text of one sentence; a conflict spells paths with a dot in front. Whoever
compares, prints or counts refusals wants one shape: causes with the field's path, sorted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from labkit.cluster.api import ApiResponse
from labkit.errors import ApiError

__all__ = ["Cause", "Refusal", "Refused", "refusal_of"]

_UNKNOWN = re.compile(r'unknown field "([^"]*)"')
_TYPED_PATCH = re.compile(r"failed to create typed patch object \([^)]*\): (?:errors:)?(.*)", re.DOTALL)
_AT_A_PATH = re.compile(r"\.?([^\s:]+): (.*)")


@dataclass(frozen=True)
class Cause:
    """One reason of a refusal: the field's path as the server prints it, the kind of error, the sentence.

    *field* has no dot in front, and is empty where the whole object is meant; *reason* is empty where the server gave
    only a sentence.
    """

    field: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


@dataclass(frozen=True)
class Refusal:
    """The server's No: HTTP code, its whole message, the causes sorted (the server's own order is random), its reason.

    *causes* may be empty: then all there is to know is in *message*.
    """

    code: int
    message: str
    causes: tuple[Cause, ...]
    reason: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The paths that are complained of, sorted, each once."""
        return tuple(sorted({cause.field for cause in self.causes if cause.field}))


class Refused(ApiError):
    """The API server refused an object; *refusal* has the parts. ``str(error)`` has one line for each cause."""

    def __init__(self, state: str, refusal: Refusal) -> None:
        head = f"{refusal.code} {refusal.reason}".strip()
        lines = "".join(f"\n  {cause}" for cause in refusal.causes)
        evidence = f"{head}{lines}" if lines else f"{head}: {refusal.message}"
        super().__init__(state, code=refusal.code, reason=refusal.reason, evidence=evidence)
        self.refusal = refusal

    @property
    def causes(self) -> tuple[Cause, ...]:
        return self.refusal.causes


def refusal_of(answer: ApiResponse) -> Refusal:
    """The parts of a ``Status``; some 404s and proxies answer plain text instead, which is then the message."""
    status = answer.status
    message = str(status.get("message") or answer.text.strip())
    causes = (status.get("details") or {}).get("causes") or []
    found = {Cause(_path(c.get("field", "")), c.get("reason", ""), c.get("message", "")) for c in causes}
    found = found or _told_in(message)
    ordered = tuple(sorted(found, key=lambda cause: (cause.field, cause.reason, cause.message)))
    return Refusal(answer.code, message, ordered, str(status.get("reason") or ""))


def _path(field: str) -> str:
    return "" if field == "<nil>" else field.removeprefix(".")


def _told_in(message: str) -> set[Cause]:
    """The fields that only the sentence names."""
    typed = _TYPED_PATCH.search(message)
    if typed is not None:
        matches = (_AT_A_PATH.fullmatch(line.strip()) for line in typed[1].splitlines())
        return {Cause(match[1], "", match[2]) for match in matches if match is not None}
    return {Cause(field, "", "unknown field") for field in _UNKNOWN.findall(message)}
