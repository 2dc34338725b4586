"""What Sphinx must do otherwise for these pages: anchors that never change, and a way to the other language.

Sphinx makes the id of a heading from its words, so that a link into a French page would hold for that page alone. The
source tree says which ids the headings of each page have (``anchors.json``: page → ids in order; both languages have
the same); a cell's id is that of its step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

__all__ = ["ANCHORS", "setup"]

ANCHORS = "anchors.json"


class Anchors(SphinxTransform):
    """Gives sections and cells the ids that the source tree says, before a table of contents is made of them."""

    default_priority = 870  # before Sphinx takes the contents and labels from the document, at 880

    def apply(self, **_: Any) -> None:
        told = json.loads((Path(self.env.srcdir) / ANCHORS).read_text(encoding="utf-8"))
        ids = told.get(self.env.docname)
        sections = list(self.document.findall(nodes.section))
        if ids is not None:
            if len(ids) != len(sections):
                raise ValueError(f"{self.env.docname}: {len(sections)} headings, {len(ids)} ids")
            for section, name in zip(sections, ids, strict=True):
                self._name(section, name)
        for cell in self.document.findall(nodes.container):
            anchor = cell.get("cell_metadata", {}).get("labkit", {}).get("anchor")
            if cell.get("nb_element") == "cell_code" and anchor:
                cell["ids"] = [anchor]

    def _name(self, section: nodes.section, name: str) -> None:
        """Ids that an author wrote come first, for they are the ones that others link to."""
        written = [
            found
            for known, found in self.document.nameids.items()
            if found in section["ids"] and self.document.nametypes.get(known)
        ]
        section["ids"] = list(dict.fromkeys([*written, name]))
        self.document.ids[name] = section


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_transform(Anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
