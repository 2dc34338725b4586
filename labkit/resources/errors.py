"""What the resource classes raise, with every part of a message as an attribute.

- ResourceError(ValueError)        a value does not fit its class; all problems of one construction at once
  - SpecPathError                  a dotted path cannot be walked, or what it names cannot be written
- DeclarationError(TypeError)      a class or a field says something that cannot mean anything

Inside the package a refused value travels as a Refusal, which knows paths but no class; the public entry that meets
it turns it into one ResourceError. All errors survive pickling. A traceback has one line of this package, the ``raise``
of the public entry, which Python cannot be kept from showing; IPython is asked to leave that out, too.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from labkit.resources.node import Node

__all__ = [
    "DeclarationError",
    "Problem",
    "Refusal",
    "ResourceError",
    "ServerPath",
    "SpecPathError",
    "TooDeep",
    "class_name",
    "each",
    "json_path",
    "outermost",
    "refused",
]

P = ParamSpec("P")
R = TypeVar("R")
Step = str | int


class ServerPath(str):
    """A path that is already spelled as the API server spells it."""

    __slots__ = ()


_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_SHOWN = 200


def json_path(steps: Iterable[Step]) -> str:
    """``spec.rows[0].labels[a.b/c]``: dots before plain names, brackets around indexes and every other key."""
    text = ""
    for step in steps:
        if isinstance(step, ServerPath):
            text += str(step)
        elif isinstance(step, str) and _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{printable(step) if isinstance(step, str) else step}]"
    return text


def printable(text: str) -> str:
    """*text* on one line that every terminal can show: what is not printable is escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class Problem(NamedTuple):
    """One refused value: the *path* to it, why (*message*), and its short text (*value*; empty if it is missing)."""

    path: tuple[Step, ...]
    message: str
    value: str = ""

    def __str__(self) -> str:
        where = json_path(self.path)
        return f"{where}: {self.message}" if where else self.message


class Refusal(Exception):
    """Carries problems from a coercion to the public entry; *inflated* if a class was being built from a dict."""

    def __init__(self, problems: Sequence[Problem], *, inflated: bool = False) -> None:
        super().__init__()
        self.problems = list(problems)
        self.inflated = inflated

    @classmethod
    def of(cls, message: str, value: str = "") -> Refusal:
        return cls([Problem((), message, value)])

    def under(self, step: Step) -> list[Problem]:
        """The same problems, seen from one level further out."""
        return [problem._replace(path=(step, *problem.path)) for problem in self.problems]

    @property
    def reason(self) -> str:
        """All problems on one line."""
        return "; ".join(str(problem) for problem in self.problems)


def each(values: Iterable[Any], one: Callable[[Any], Any]) -> list[Any]:
    """``one(value)`` of all; a Refusal with the problems of all."""
    held: list[Any] = []
    problems = []
    for index, value in enumerate(values):
        try:
            held.append(one(value))
        except Refusal as refusal:
            problems.extend(refusal.under(index))
    if problems:
        raise Refusal(problems, inflated=True)
    return held


class TooDeep(Refusal):
    """The interpreter's stack ended before the value did."""

    def __init__(self) -> None:
        super().__init__([Problem((), "is nested too deeply, or contains itself")])


class _EndsAtCaller(Exception):
    """A traceback in a notebook ends at the line of the caller."""

    def _render_traceback_(self) -> list[str]:
        """Called by IPython instead of its own formatting; gives that formatting of the caller's lines alone."""
        shell = sys.modules["IPython"].get_ipython()
        kept: TracebackType | None = None
        one = self.__traceback__
        while one is not None:
            if not str(one.tb_frame.f_globals.get("__name__")).startswith(__package__):
                kept = one
            one = one.tb_next
        if kept is not None:
            kept.tb_next = None
        format_ = shell.InteractiveTB
        lines: list[str] = format_.structured_traceback(type(self), self, self.__traceback__, format_.tb_offset)
        return lines


class ResourceError(_EndsAtCaller, ValueError):
    """Values that do not fit *class_name*; *problems* has all of them, in the order of the document.

    Each problem has ``path`` (a tuple), ``message`` and ``value``. ``str(error)`` is one line for one problem, else a
    headline and one line a problem, as the API server lists the causes of a refusal.
    """

    def __init__(self, class_name: str, problems: Sequence[Problem]) -> None:
        super().__init__(class_name, tuple(problems))
        self.class_name = class_name
        self.problems = tuple(problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.class_name}: {self.problems[0]}"
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        return f"{self.class_name}: {len(self.problems)} problems{lines}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the problems as text, e.g. ``spec.worker.max``."""
        return tuple(json_path(problem.path) for problem in self.problems)


class SpecPathError(ResourceError):
    """A path verb failed.

    *spec_path* is the path as text, *segment* the segment it failed at (empty if the whole path is meant), *reason*
    what comes after the prefix. ``str(error)`` begins with ``spec path 'PATH'``.
    """

    def __init__(self, class_name: str, spec_path: str, reason: str, *, segment: str = "") -> None:
        super().__init__(class_name, [Problem(("spec", spec_path), reason)])
        self.spec_path = spec_path
        self.segment = segment
        self.reason = reason

    def __str__(self) -> str:
        return self.reason if not self.spec_path else f"spec path '{self.spec_path}': {self.reason}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_spec_path_error, (type(self), self.class_name, self.spec_path, self.reason, self.segment))


def _spec_path_error(
    kind: type[SpecPathError], class_name: str, spec_path: str, reason: str, segment: str
) -> SpecPathError:
    return kind(class_name, spec_path, reason, segment=segment)


class DeclarationError(_EndsAtCaller, TypeError):
    """A class or field declaration means nothing or contradicts another.

    *class_name*, *field* (the JSON key) and *option* are empty where they do not apply; all that apply are in the
    message. Nothing is left behind by a refused declaration.
    """

    def __init__(self, message: str, *, class_name: str = "", field: str = "", option: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.class_name = class_name
        self.field = field
        self.option = option

    def __reduce__(self) -> tuple[Any, ...]:
        return (_declaration_error, (type(self), self.message, self.class_name, self.field, self.option))


def _declaration_error(
    kind: type[DeclarationError], message: str, class_name: str, field: str, option: str
) -> DeclarationError:
    return kind(message, class_name=class_name, field=field, option=option)


def outermost(function: Callable[P, R]) -> Callable[P, R]:
    """*function* as a public entry: its errors are raised here, without the lines of the package they come from.

    A Refusal becomes the ResourceError of the class whose method *function* is.
    """

    @functools.wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        error: ResourceError | DeclarationError
        try:
            return function(*args, **kwargs)
        except (ResourceError, DeclarationError) as raised:
            error = raised.with_traceback(None)
            error.__context__ = None  # what the package met on the way
        except (Refusal, RecursionError) as reason:
            error = refused(_speaker(function, args), reason)
        raise error

    return entry


def _speaker(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Who is named in an error: the class of a method, or the function."""
    first = args[0] if "." in function.__qualname__ else None
    cls = first if isinstance(first, type) else type(first)
    return class_name(cls) if issubclass(cls, Node) else function.__name__


def refused(name: str, reason: Refusal | RecursionError, *key: Step) -> ResourceError:
    """The public error for what *name* refused, perhaps at *key*, or for a value deeper than the stack."""
    refusal = reason if isinstance(reason, Refusal) else TooDeep()
    return ResourceError(name, refusal.under(*key) if key else refusal.problems)


def class_name(cls: type[Any]) -> str:
    """The name of a class for messages: without the function it was written in."""
    return cls.__qualname__.rpartition("<locals>.")[2]


def shorten(text: str) -> str:
    """Text for a message: long values lose their middle."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 20]}… ({len(text)} characters)"
