"""YAML that every reader takes for the same values.

kubectl reads YAML with YAML 1.1's words (``yes``, ``on``, ``y`` are booleans) and Go's numbers (``1e3``, ``0o17``);
PyYAML leaves some of these plain. A text that any of them might take for something else is written in quotes.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["as_yaml"]

_LOOKS_LIKE_SOMETHING = re.compile(
    r"[-+]?\.?[0-9].*|[-+]?\.(inf|nan)|\.nan|[~=]|<<|null|true|false|yes|no|on|off|y|n|", re.IGNORECASE
)


def as_yaml(document: Any) -> str:
    """One document, keys in order, no aliases; raises ImportError naming PyYAML if it is not installed."""
    try:
        import yaml
    except ImportError:
        raise ImportError("to_yaml() needs the package PyYAML, which is not installed: pip install PyYAML") from None

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
            return True

    def text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
        style = "'" if _LOOKS_LIKE_SOMETHING.fullmatch(data) else "|" if "\n" in data else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Dumper.add_representer(str, text)
    written: str = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return written
