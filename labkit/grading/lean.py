"""What nbval would load and never use, left out: the first plugin of a run of notebooks (``-p labkit.grading.lean``).

nbformat loads jsonschema, and that, for a format of texts that no notebook has (IRIs, RFC 3987), a grammar that takes a
second of processor time to build, in the process that each submission has of its own. jsonschema does without where the
package is not installed, so here it is not.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

__all__: list[str] = []

sys.modules.setdefault("rfc3987_syntax", cast(ModuleType, None))  # an import of it is an ImportError then
