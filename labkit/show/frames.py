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


def memory_noise(value: DefinitionsCost) -> pd.DataFrame:
    """One row a round, as text with units: memory before, with the definitions, the change, once removed, seconds to
    Established.
    """
    import pandas as pd

    columns = ["round", "before", "with definitions", "change", "removed", "established in"]
    return pd.DataFrame(view.noise_rows(value), columns=columns).set_index("round")
