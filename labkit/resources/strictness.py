"""Whether an undeclared key is kept or refused.

Kept is the rule, since a program that reads and writes back must not lose what a newer version of a type added. But
then a misspelt key is silent. ``with strict():`` refuses it, at every level, for whatever is built, assigned or written
by path inside the block; the setting belongs to the running task or thread and ends with the block.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["is_strict", "strict", "undeclared"]

_strict: ContextVar[bool] = ContextVar("labkit_resources_strict", default=False)

is_strict = _strict.get


@contextmanager
def strict(on: bool = True) -> Iterator[None]:
    """Refuse undeclared keys inside the block (``strict(False)`` keeps them again inside a stricter block).

    >>> with strict():
    ...     colis = Colis(spec={"version": "2.2.1", "wroker": {}})
    ResourceError: Colis: spec.wroker: is not a field of Spec; did you mean 'worker'?

    Raises nothing itself; the refusals are ResourceError, or SpecPathError from a path verb.
    """
    token = _strict.set(on)
    try:
        yield
    finally:
        _strict.reset(token)


def undeclared(key: str, class_name: str, known: Iterable[str]) -> str:
    """The message for a key that *class_name* does not declare."""
    near = difflib.get_close_matches(key, list(known), n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"is not a field of {class_name}{hint}"
