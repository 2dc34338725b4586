"""The lenient map: it was a map of anything once, and still takes what it took, with one warning.

The warning is given at the line of the caller, once for each class and field. A warning that a filter silences was not
given: it is still to come for whoever listens later.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from labkit.resources.errors import class_name
from labkit.resources.field import Field
from labkit.resources.values import check_json, described

__all__ = ["legacy_values"]


def legacy_values(field: Field[Any, Any], check_keys: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    """The check of a lenient map's values: any JSON, with one warning for the first that is no scalar."""
    warned = False

    def coerce(value: Any) -> Any:
        nonlocal warned
        check_keys(value, field)
        kept = check_json(value)
        if not warned:
            odd = [
                key
                for key, one in kept.items()
                if one is not None and (isinstance(one, bool) or not isinstance(one, (str, int, float)))
            ]
            if odd:
                warned = _warn(field, odd[0], kept[odd[0]])
        return kept

    return coerce


def _warn(field: Field[Any, Any], key: str, value: Any) -> bool:
    """Warn at the caller's line; False if a filter silences it, so that the one warning is still to come."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("labkit.resources"):
        frame = frame.f_back
    text = (
        f"{class_name(field.owner)}.{field.key}: the value of '{key}' is {described(value)}, not a string; it is kept "
        "as it is, but the field is declared as a map of strings (declare it Opaque, or Map of another type)"
    )
    module = frame.f_globals.get("__name__", "<unknown>")
    silenced = _action(text, module, frame.f_lineno) == "ignore"
    warnings.warn_explicit(text, DeprecationWarning, frame.f_code.co_filename, frame.f_lineno, module, {})
    return not silenced


def _action(text: str, module: str, line: int) -> str:
    """What the filters in force would do (the rule of ``warnings.warn_explicit``)."""
    for action, message, category, module_pattern, at_line in warnings.filters:
        if (
            (message is None or message.match(text))
            and issubclass(DeprecationWarning, category)
            and (module_pattern is None or module_pattern.match(module))
            and at_line in (0, line)
        ):
            return action
    return "default"
