"""An answer's text as objects that can be sent, whatever somebody wrote.

YAML can say what JSON cannot: an object that holds itself, a key that is a list, an alias of an alias that unfolds to
gigabytes. kubectl refuses those; so does this, before anything is unfolded or sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from labkit.course import manifests
from labkit.errors import ManifestError
from labkit.languages import translate

__all__ = ["objects_of"]

_LARGEST_TEXT = 1024 * 1024
_MOST_VALUES = 200_000
_MAPS = ("labels", "annotations")


def objects_of(text: str) -> tuple[dict[str, Any], ...]:
    """The objects of an answer in order. Raises ManifestError, whose state speaks of the answer."""
    if len(text) > _LARGEST_TEXT:
        raise ManifestError(
            translate("the answer is larger than the server would take"),
            evidence=translate("{n} characters", n=len(text)),
        )
    found = manifests.read(text, translate("the answer"))
    if _is_more_than(found, _MOST_VALUES):
        raise _misfit(translate("it holds itself, or unfolds to far too much"))
    try:
        plain: list[dict[str, Any]] = json.loads(json.dumps(found))
    except (TypeError, ValueError, RecursionError) as error:
        raise _misfit(translate("it cannot be written as JSON: {error}", error=error)) from error
    for one in plain:
        for why in _misshapen(one):
            raise _misfit(why)
    return tuple(plain)


def _misfit(why: str) -> ManifestError:
    return ManifestError(translate("{name}: not a manifest", name=translate("the answer")), evidence=why)


def _is_more_than(value: Any, most: int) -> bool:
    """Whether there are more values than *most*, each counted where it is used."""
    waiting = [value]
    seen = 0
    while waiting:
        one = waiting.pop()
        seen += 1
        if seen + len(waiting) > most:
            return True
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
    return False


def _misshapen(obj: dict[str, Any]) -> Iterator[str]:
    """What keeps an object from being sent at all; everything else is the server's to say."""
    metadata = obj["metadata"]
    if not isinstance(metadata, dict):
        yield translate("{field} is no map", field="metadata")
        return
    for name in ("apiVersion", "kind"):
        if not isinstance(obj[name], str):
            yield translate("{field} is no text", field=name)
    for name in ("name", "namespace"):
        value = metadata.get(name, "")
        if not isinstance(value, str):
            yield translate("{field} is no text", field="metadata." + name)
        elif value in (".", "..") or "/" in value or "%" in value:  # the server's own rule for what is in a path
            yield translate("{field} is no name: {value}", field="metadata." + name, value=value)
    for name in _MAPS:
        if not isinstance(metadata.get(name) or {}, dict):
            yield translate("{field} is no map", field="metadata." + name)
        elif metadata.get(name, {}) is None:
            del metadata[name]
