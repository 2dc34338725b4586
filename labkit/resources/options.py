"""The options of a field, and which of them mean something for which type.

A misspelt option that is silently ignored is a constraint nobody enforces; so every name is checked, for every field,
while the class is being defined. Nine options are the documented core. The others say what the schema of a
CustomResourceDefinition can say beyond them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from labkit.resources.errors import DeclarationError, class_name
from labkit.resources.patterns import Pattern, PatternError, PatternUnknown, compile_pattern, pattern_text
from labkit.resources.values import INT64_MAX, INT64_MIN, in_quotes, text_of

if TYPE_CHECKING:
    from labkit.resources.field import Field

__all__ = [
    "CORE",
    "EITHER",
    "ELEMENT",
    "EMBEDDED",
    "ENVELOPE",
    "KEYWORDS",
    "KNOWN",
    "PRESERVE",
    "RULES",
    "Check",
    "check_names",
    "checks_of",
    "refuse",
]

CORE = (
    "required",
    "default",
    "enum",
    "minimum",
    "maximum",
    "pattern",
    "description",
    "nullable",
    "preserve_unknown",
)
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
EITHER = "x-kubernetes-int-or-string"
RULES = "x-kubernetes-validations"
ENVELOPE = ("apiVersion", "kind", "metadata")
# Option → keyword of the schema, for those that are copied as they are.
KEYWORDS = {
    "title": "title",
    "description": "description",
    "format": "format",
    "minimum": "minimum",
    "exclusive_minimum": "exclusiveMinimum",
    "maximum": "maximum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "enum": "enum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique_items": "uniqueItems",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "list_type": "x-kubernetes-list-type",
    "list_map_keys": "x-kubernetes-list-map-keys",
    "map_type": "x-kubernetes-map-type",
    "rules": RULES,
}
KNOWN = (*CORE, *sorted({*KEYWORDS, "embedded", "int_or_string", "key", "verbatim"} - set(CORE)))

# What an array or a map hands on to its elements.
ELEMENT = (
    "enum",
    "minimum",
    "maximum",
    "exclusive_minimum",
    "exclusive_maximum",
    "multiple_of",
    "pattern",
    "min_length",
    "max_length",
    "format",
)
_NUMERIC = ("minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "multiple_of")
_TEXTUAL = ("pattern", "min_length", "max_length")
_COUNTS = ("min_length", "max_length", "min_items", "max_items", "min_properties", "max_properties")
_OF_LISTS = ("min_items", "max_items", "unique_items", "list_type", "list_map_keys")
_OF_OBJECTS = ("min_properties", "max_properties", "map_type", "embedded")
_LISTS_OF: tuple[tuple[str, Any, str], ...] = (
    ("rules", Mapping, "rules, each from cel()"),
    ("list_map_keys", str, "keys"),
)
_FLAGS = ("nullable", "preserve_unknown", "embedded", "int_or_string", "exclusive_minimum", "exclusive_maximum")


class Check(NamedTuple):
    """A constraint: whether a value *holds*, and what to *say* of one that does not."""

    holds: Callable[[Any], bool]
    say: Callable[[Any], str]


def refuse(field: Field[Any, Any], message: str, option: str = "") -> NoReturn:
    """Raise a DeclarationError about *field*; *message* continues "field 'x' of C"."""
    owner = class_name(field.owner)
    raise DeclarationError(
        f"field '{field.key}' of {owner} {message}", class_name=owner, field=field.key, option=option
    ) from None


def check_names(field: Field[Any, Any]) -> None:
    """Positional junk, unknown options, options given as None: the first of them, sorted by name."""
    if field.junk:
        refuse(field, f"got {', '.join(map(repr, field.junk))}; options are written name=value")
    for option in sorted(field.options):
        if option not in KNOWN:
            refuse(field, f"has the unknown option '{option}' (known: {', '.join(KNOWN)})", option)
        if field.options[option] is None:
            refuse(field, f"has the option '{option}' set to None; an option must not be None", option)


def checks_of(field: Field[Any, Any]) -> list[Check]:
    """The constraints on one value of a scalar *field*; raises DeclarationError for one that means nothing there."""
    given = field.options
    checks: list[Check] = []
    if "enum" in given:
        checks.append(_enum(field, given["enum"]))
    _numbers(field, checks)
    if any(option in given for option in _TEXTUAL):
        if not field.textual:
            option = next(option for option in _TEXTUAL if option in given)
            refuse(field, f"has the option '{option}', which needs a string type, not {field.kind}", option)
        _texts(field, checks)
    return checks


def check_places(  # noqa: PLR0912  (one question after the other)
    field: Field[Any, Any], *, scalar: bool, has_list: bool, has_object: bool
) -> None:
    """Refuse options that the shape of *field* has no use for. *scalar*: it, or its elements, are scalars."""
    given = field.options
    if not scalar:
        for option in ELEMENT:
            if option in given and not (option == "format" and not has_list and not has_object):
                refuse(field, f"has the option '{option}', which needs a scalar field, not {field.expression}", option)
    for options, allowed, noun in ((_OF_LISTS, has_list, "a list"), (_OF_OBJECTS, has_object, "a map or an object")):
        for option in options:
            if option in given and not allowed:
                refuse(field, f"has the option '{option}', which needs {noun}, not {field.expression}", option)
    for option in _COUNTS:
        if option in given and (type(given[option]) is not int or given[option] < 0):
            refuse(field, f"has {option}={given[option]!r}; it must be a number from 0", option)
    for option in _FLAGS:
        if option in given and type(given[option]) is not bool:
            refuse(field, f"has {option}={given[option]!r}; it is either True or False", option)
    for option in ("description", "title", "format"):
        if option in given and not isinstance(given[option], str):
            refuse(field, f"has {option}={given[option]!r}; it must be text", option)
    if "verbatim" in given and not isinstance(given["verbatim"], Mapping):
        refuse(field, "has a 'verbatim' that is not a dict of schema keywords", "verbatim")
    for option, kind, words in _LISTS_OF:
        value = given.get(option, [])
        if not isinstance(value, (list, tuple)) or not all(isinstance(one, kind) for one in value):
            refuse(field, f"has {option}={value!r}; it must be a list of {words}", option)


def size_checks(field: Field[Any, Any], noun: str) -> list[Check]:
    """Bounds on the number of items (``noun="items"``) or keys (``noun="properties"``)."""
    words = "fewer than the minimum", "more than the maximum"
    return _lengths(field, noun, lambda value: f"has {len(value)} {noun},", *words)


def _lengths(field: Field[Any, Any], noun: str, shown: Callable[[Any], str], few: str, many: str) -> list[Check]:
    least, most = field.options.get(f"min_{noun}"), field.options.get(f"max_{noun}")
    checks: list[Check] = []
    if least is not None and most is not None and least > most:
        refuse(field, f"has min_{noun}={least}, which exceeds max_{noun}={most}", f"min_{noun}")
    if least is not None:
        checks.append(Check(lambda value: len(value) >= least, lambda value: f"{shown(value)} {few} {least}"))
    if most is not None:
        checks.append(Check(lambda value: len(value) <= most, lambda value: f"{shown(value)} {many} {most}"))
    return checks


def _enum(field: Field[Any, Any], values: Any) -> Check:
    if field.kind == "Bool":
        refuse(field, "has an enum, which means nothing on Bool", "enum")
    if not isinstance(values, (list, tuple)) or not values:
        refuse(field, "has an enum that is not a non-empty list", "enum")
    allowed: list[tuple[type, Any]] = []
    for value in values:
        typed = (type(value), value)
        if typed in allowed:
            refuse(field, f"has an enum with the duplicate {value!r}", "enum")
        allowed.append(typed)
    if field.kind != "Num" and all(isinstance(value, str) for value in values):
        texts = frozenset(values)
        shown = ", ".join(values)
        return Check(lambda value: value in texts, lambda value: f"Value {in_quotes(value)} is not one of: {shown}")
    shown = ", ".join(map(text_of, values))
    plain = [value for value in values if not isinstance(value, bool)]
    return Check(
        lambda value: value in plain and not isinstance(value, bool),
        lambda value: f"Value {in_quotes(value)} is not one of: {shown}",
    )


def _numbers(field: Field[Any, Any], checks: list[Check]) -> None:
    given = field.options
    present = [option for option in _NUMERIC if option in given]
    if present and not field.numeric:
        refuse(field, f"has minimum/maximum options, which need a number type, not {field.kind}", present[0])
    for option in ("minimum", "maximum", "multiple_of"):
        if option in given and not _is_number(given[option]):
            refuse(field, f"has {option}={given[option]!r}; minimum and maximum must be numbers", option)
    for option in ("minimum", "maximum"):
        if option in given and not field.lenient:
            _check_bound(field, option, given[option])
    least, most = given.get("minimum"), given.get("maximum")
    if least is not None and most is not None and least > most:
        refuse(field, f"has the minimum {least}, which exceeds its maximum {most}", "minimum")
    bounds = (
        ("minimum", operator.ge, operator.gt, "below the minimum", "not above the minimum"),
        ("maximum", operator.le, operator.lt, "above the maximum", "not below the maximum"),
    )
    for option, within, inside, wrong, wrong_if_exclusive in bounds:
        if option in given:
            exclusive = given.get(f"exclusive_{option}")
            checks.append(
                _bound(given[option], inside if exclusive else within, wrong_if_exclusive if exclusive else wrong)
            )


def _check_bound(field: Field[Any, Any], option: str, bound: Any) -> None:
    """Refuse a bound that the server reads as another, or with which it lets no integer pass (kube-openapi 1.37)."""
    kept = float(bound)  # the server keeps a double, and compares an integer with its whole part in 64 bits
    if not INT64_MIN <= kept <= INT64_MAX or (isinstance(bound, int) and int(kept) != bound):
        refuse(field, f"has {option}={bound!r}; the server cannot hold that bound exactly", option)
    if field.kind == "Int" and not kept.is_integer():
        refuse(field, f"has {option}={bound!r}; the server refuses every integer if the bound has a fraction", option)


def _bound(bound: Any, holds: Callable[[Any, Any], bool], wrong: str) -> Check:
    """A bound as the server has it: it compares an integer with the whole part of the bound (kube-openapi 1.37)."""
    whole = math.trunc(bound)
    return Check(
        lambda value: holds(value, whole if isinstance(value, int) else bound),
        lambda value: f"Value {in_quotes(value)} is {wrong} {bound}",
    )


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def _texts(field: Field[Any, Any], checks: list[Check]) -> None:
    """Checks of texts. Where a value may also be an integer (IntOrStr), the server applies them to texts only."""
    words = "shorter than the minimum length", "longer than the maximum length"
    checks += _lengths(field, "length", lambda value: f"Value {in_quotes(value)} is", *words)
    if "pattern" in field.options and (pattern := _pattern(field)):
        checks.append(
            Check(pattern.found_in, lambda value: f"Value {in_quotes(value)} does not match the pattern {pattern.text}")
        )


def _pattern(field: Field[Any, Any]) -> Pattern | None:
    try:
        text = field.options["pattern"] = pattern_text(field.options["pattern"])
        return compile_pattern(text)
    except PatternError as reason:
        refuse(field, f"has a pattern that does not compile: {reason}", "pattern")
    except PatternUnknown as reason:
        field.left_to_server = str(reason)
        return None
