"""The seven scalar types: what Python values they take, and the JSON they write.

They say yes and no as the API server does to the JSON they write. So ``"3"`` is no integer and ``True`` no number,
while 3.0 is an integer; a Str keeps a number it is given and writes it as text, because the server would see text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, overload

from labkit.resources import coercions
from labkit.resources.coercions import QUANTITY
from labkit.resources.field import Field, constrained, places, register_kind
from labkit.resources.options import EITHER, checks_of
from labkit.resources.patterns import compile_pattern
from labkit.resources.values import INT64_MAX, INT64_MIN, copied

__all__ = ["QUANTITY", "Bool", "Int", "IntOrStr", "Num", "Quantity", "Scalar", "Str", "Time"]

E = TypeVar("E")
V = TypeVar("V")
Yes = Literal[True]
No = Literal[False]


class Options(TypedDict, total=False):
    """Options every scalar takes; *key* is the JSON key where it is no Python name."""

    default: Any
    enum: list[Any] | tuple[Any, ...]
    description: str
    title: str
    format: str
    preserve_unknown: bool
    rules: list[dict[str, Any]]
    key: str
    verbatim: dict[str, Any]


class NumberOptions(Options, total=False):
    """Options of Int and Num; the bounds themselves are allowed unless exclusive."""

    minimum: float
    maximum: float
    exclusive_minimum: bool
    exclusive_maximum: bool
    multiple_of: float


class TextOptions(Options, total=False):
    """Options of texts; *pattern* is RE2, searched unanchored; lengths count code points."""

    pattern: str | re.Pattern[str]
    min_length: int
    max_length: int


class QuantityOptions(TextOptions, total=False):
    """*int_or_string* writes the schema as controller-gen does, which lets plain numbers in."""

    int_or_string: bool


class _Absent(TypedDict, total=False):
    """What also allows a field to be absent, or null: its attribute may be None."""

    required: bool | Literal["schema"]
    nullable: bool


class AnyOptions(Options, _Absent): ...


class AnyNumber(NumberOptions, _Absent): ...


class AnyText(TextOptions, _Absent): ...


class AnyQuantity(QuantityOptions, _Absent): ...


class Scalar(Field[E, V]):
    """Base of the seven."""

    base: Callable[[Any], Any]  # a value as the object keeps it; raises Refusal if it is not of the type

    def compile(self) -> None:
        places(self, scalar=True)
        checks = checks_of(self)
        wire = self.wire
        self.dump = wire
        self.coerce = constrained(self.base, checks, wire)
        self.read = copied if wire is None or self.lenient else coercions.as_sent
        if self.lenient:
            self.dump = None
            if wire is not None:
                checked = self.coerce
                self.coerce = lambda value: wire(checked(value))

    @property
    def wire(self) -> Callable[[Any], Any] | None:
        """The function from a kept value to its JSON; None if they are the same."""
        return None


@register_kind
class Str(Scalar[str, V]):
    """Text. Takes str, and finite numbers, which it keeps and writes as text (8080 → ``"8080"``). Refuses booleans.

    Wire: JSON string. Schema: ``type: string``. Raises ResourceError (path, message, value) like every field.
    Options: the nine, min_length, max_length, format.
    """

    kind = "Str"
    textual = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Str[str], *, required: Yes, nullable: No = False, **options: Unpack[TextOptions]
        ) -> None: ...
        @overload
        def __init__(self: Str[str | None], **options: Unpack[AnyText]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V | float) -> None: ...

    base = staticmethod(coercions.text)

    def plainly_wrong(self, value: str, number: int, names: dict[str, Any]) -> str | None:
        constraints = {"enum", "pattern", "min_length", "max_length"} & set(self.options)
        if constraints == {"enum"}:
            names[f"enum{number}"] = frozenset(one for one in self.options["enum"] if isinstance(one, str))
            return f"type({value}) is not str or {value} not in enum{number}"
        if constraints == {"pattern"} and not self.left_to_server:
            names[f"found{number}"] = compile_pattern(self.options["pattern"]).automaton.search
            return f"type({value}) is not str or not {value}.isascii() or not found{number}({value})"
        return None if constraints else f"type({value}) is not str or not {value}.isascii()"

    @property
    def wire(self) -> Callable[[Any], Any]:
        return coercions.as_text

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "string"}


@register_kind
class Int(Scalar[int, V]):
    """A 64-bit integer. Takes int and whole floats (3.0 → 3), as the server does; refuses booleans and text.

    Wire: JSON integer. Schema: ``type: integer``. Options: the nine, exclusive_minimum/maximum, multiple_of (schema
    only), format.
    """

    kind = "Int"
    numeric = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Int[int], *, required: Yes, nullable: No = False, **options: Unpack[NumberOptions]
        ) -> None: ...
        @overload
        def __init__(self: Int[int | None], **options: Unpack[AnyNumber]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V) -> None: ...

    base = staticmethod(coercions.integer)

    def plainly_wrong(self, value: str, number: int, names: dict[str, Any]) -> str | None:  # noqa: ARG002
        if {"enum", "exclusive_minimum", "exclusive_maximum"} & set(self.options):
            return None
        least, most = self.options.get("minimum", INT64_MIN), self.options.get("maximum", INT64_MAX)
        least, most = max(int(least), INT64_MIN), min(int(most), INT64_MAX)
        return f"type({value}) is not int or not {least} <= {value} <= {most}"

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "integer"}


@register_kind
class Num(Scalar[float, V]):
    """A finite number. Takes int and float; refuses NaN, infinities, booleans and text.

    Wire: JSON number, never quoted. Schema: ``type: number``. Options as Int.
    """

    kind = "Num"
    numeric = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Num[float], *, required: Yes, nullable: No = False, **options: Unpack[NumberOptions]
        ) -> None: ...
        @overload
        def __init__(self: Num[float | None], **options: Unpack[AnyNumber]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V) -> None: ...

    base = staticmethod(coercions.number)

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "number"}


@register_kind
class Bool(Scalar[bool, V]):
    """True or false. Takes booleans, 0 and 1, and the texts "true", "false", "1", "0", "" in the usual spellings.

    Wire: JSON boolean; the object keeps the boolean. Refuses every other text and number. Schema: ``type: boolean``.
    """

    kind = "Bool"

    if TYPE_CHECKING:

        @overload
        def __init__(self: Bool[bool], *, required: Yes, nullable: No = False, **options: Unpack[Options]) -> None: ...
        @overload
        def __init__(self: Bool[bool | None], **options: Unpack[AnyOptions]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V | int | str) -> None: ...

    base = staticmethod(coercions.boolean)

    def plainly_wrong(self, value: str, number: int, names: dict[str, Any]) -> str | None:  # noqa: ARG002
        return f"{value} is not True and {value} is not False"

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "boolean"}


@register_kind
class IntOrStr(Scalar["int | str", V]):
    """An integer or a text, kept as given ("80" stays text). Refuses everything else, booleans too.

    Wire: JSON integer or string. Schema: ``x-kubernetes-int-or-string: true``. A pattern applies to texts only, as on
    the server.
    """

    kind = "IntOrStr"
    textual = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: IntOrStr[int | str], *, required: Yes, nullable: No = False, **options: Unpack[TextOptions]
        ) -> None: ...
        @overload
        def __init__(self: IntOrStr[int | str | None], **options: Unpack[AnyText]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V) -> None: ...

    base = staticmethod(coercions.integer_or_text)

    def compile(self) -> None:
        super().compile()
        if {"pattern", "min_length", "max_length"} & set(self.options):
            texts, numbers = self.coerce, constrained(self.base, checks_of(_only_enum(self)))
            self.coerce = lambda value: texts(value) if isinstance(value, str) else numbers(value)

    def schema_parts(self) -> dict[str, Any]:
        return {EITHER: True}


@register_kind
class Quantity(Scalar[str, V]):
    """An amount with an SI or binary suffix: ``100m``, ``5Gi``, ``1.5``, ``12e6``. Takes texts and finite numbers.

    Wire: JSON string. Schema: ``type: string`` with controller-gen's pattern, which is also what is checked here; with
    ``int_or_string=True`` controller-gen's whole form.
    """

    kind = "Quantity"
    textual = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Quantity[str], *, required: Yes, nullable: No = False, **options: Unpack[QuantityOptions]
        ) -> None: ...
        @overload
        def __init__(self: Quantity[str | None], **options: Unpack[AnyQuantity]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V | float) -> None: ...

    base = staticmethod(coercions.quantity)

    @property
    def wire(self) -> Callable[[Any], Any]:
        return coercions.as_text

    def schema_parts(self) -> dict[str, Any]:
        pattern = {} if "pattern" in self.options else {"pattern": QUANTITY}
        if self.options.get("int_or_string"):
            either = [{"type": "integer"}, {"type": "string"}]
            return {"anyOf": either, EITHER: True, **pattern}
        return {"type": "string", **pattern}


@register_kind
class Time(Scalar[str, V]):
    """A moment as RFC 3339 with a zone: ``2024-01-15T10:30:45Z``. Takes such texts and aware datetimes.

    Wire and attribute: the text. Schema: ``type: string, format: date-time``. A date alone, a blank instead of the T
    and a missing zone are refused, as are days that do not exist.
    """

    kind = "Time"
    textual = True

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Time[str], *, required: Yes, nullable: No = False, **options: Unpack[TextOptions]
        ) -> None: ...
        @overload
        def __init__(self: Time[str | None], **options: Unpack[AnyText]) -> None: ...
        def __init__(self, **options: Any) -> None: ...

        def __set__(self, obj: Any, value: V | datetime) -> None: ...

    base = staticmethod(coercions.time)

    def plainly_wrong(self, value: str, number: int, names: dict[str, Any]) -> str | None:
        if {"enum", "pattern", "min_length", "max_length"} & set(self.options):
            return None
        names[f"time{number}"] = coercions.PLAIN_TIME.fullmatch
        return f"type({value}) is not str or not time{number}({value})"

    def schema_parts(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}


def _only_enum(field: Field[Any, Any]) -> Field[Any, Any]:
    bare = type(field)()
    bare.key, bare.owner, bare.lenient = field.key, field.owner, field.lenient
    bare.options = {"enum": field.options["enum"]} if "enum" in field.options else {}
    return bare
