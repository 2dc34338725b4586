"""Measurements as pandas tables. pandas is loaded by the call, not by the import: it takes half a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.observe.cost import DefinitionsCost
from labkit.show import cost as view

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cost", "memory_noise"]


def cost(value: DefinitionsCost) -> pd.DataFrame:
    """Measure by before, after, change (of the first round), as text with units: "412.3 MiB"."""
    import pandas as pd

    frame = pd.DataFrame(view.rows(value), columns=["measure", "before", "after", "change"])
    return frame.set_index("measure")


def memory_noise(value: DefinitionsCost, *, units: bool = True) -> pd.DataFrame:
    """One row a round: memory before, with the definitions, the change, once removed, seconds to Established.

    As text with units, or, without *units*, as numbers: MiB and seconds.
    """
    import pandas as pd

    columns = ["round", "before", "with definitions", "change", "removed", "established in"]
    if units:
        return pd.DataFrame(view.noise_rows(value), columns=columns).set_index("round")
    rows = [
        (
            index,
            one.before.memory_bytes / 2**20,
            one.after.memory_bytes / 2**20,
            one.memory_change_bytes / 2**20,
            one.memory_gone_bytes / 2**20,
            one.established_s,
        )
        for index, one in enumerate(value.rounds, start=1)
    ]
    return pd.DataFrame(rows, columns=columns).set_index("round")
