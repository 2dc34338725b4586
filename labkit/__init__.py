"""labkit: a Jupyter course kit on Kubernetes CustomResourceDefinitions, played on a real API server.

A notebook starts with ``lab = labkit.begin("cel")``; after a restart of its kernel, ``lab = labkit.resume()`` goes on.
Importing the package loads nothing else: the parts that need
pandas, IPython or the Kubernetes client are loaded when they are first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "begin", "resume"]

if TYPE_CHECKING:
    from labkit.lab import begin, resume


def __getattr__(name: str) -> Any:
    if name in ("begin", "resume"):
        return getattr(importlib.import_module("labkit.lab"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
