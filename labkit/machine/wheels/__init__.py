"""``make wheels``: labkit as wheels, so that nobody needs a compiler, Docker or administrator's rights to begin.

``labkit`` is pure Python and holds the course as students get it; ``labkit-controlplane`` holds the one program, for
one platform. hatchling packs both, by their pyproject.toml; here the program is cross-compiled, looked at
and given the licences of what is linked into it. The folder is made whole or not at all, and the same sources make the
same bytes on every machine with the same Go and zlib.
"""

from labkit.machine.wheels.building import INTO, MOST_BYTES, Wheel, build, fitting
from labkit.machine.wheels.targets import TARGETS, Target, chosen, own

__all__ = ["INTO", "MOST_BYTES", "TARGETS", "Target", "Wheel", "build", "chosen", "fitting", "own"]
