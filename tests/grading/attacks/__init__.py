"""What students could hand in to get marks that are not theirs, or to harm the grader: each with the mark it must get.

Every attack answers one exercise, in a class with innocent ones among them. Those that do not disturb each other are
handed in together, as the answers of one submission: a submission costs a control plane and more, an answer a kernel.
The code of an attack is told where the course, the grades and all the others' work lie, which no student knows: what
holds must hold without a secret.
"""

from __future__ import annotations

from tests.grading.attacks import cells, packages, scripts, texts
from tests.grading.attacks.handed import Attack

__all__ = ["ALL", "CHEAP", "Attack"]

ALL: tuple[Attack, ...] = (*texts.INNOCENT, *cells.ATTACKS, *scripts.ATTACKS, *texts.ATTACKS, *packages.ATTACKS)

CHEAP = ("scripts-last", "leads-out", "link-in-a-zip")
"""The submissions that are graded twice, the second time in another order."""
