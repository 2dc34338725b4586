"""The path of one object through the API server, stage by stage, told by the server's own libraries.

``engine`` asks the control plane's program, ``values`` are its answers, ``sources`` bring the texts it is asked with.
No cluster is needed, and none is changed: definition, object and old object are given as texts.
"""

from __future__ import annotations

from labkit.trace.celcost import Costs
from labkit.trace.engine import Engine, engine
from labkit.trace.sources import Source
from labkit.trace.values import Definition, Stage, Trace

__all__ = ["Costs", "Definition", "Engine", "Source", "Stage", "Trace", "engine"]
