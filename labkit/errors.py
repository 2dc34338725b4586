"""Everything labkit raises on purpose.

Each error has three parts: the *state* (what is the case), the *evidence* (what was seen), the *next act* (what the
reader can do now). ``str(error)`` puts them in one or two lines; the parts stay attributes, for tests and for views.

- LabkitError
  - MachineError            something this machine needs is not as it must be
    - ToolMissing           a program (kubectl, Go, minikube, a control plane) cannot be found
    - ToolUnfit             it is there, but of a version that does not fit
  - ClusterError            a cluster cannot be had, or is not what the caller relies on
    - ClusterChoiceError    LABKIT_CLUSTER / --cluster says something that names no cluster
    - ClusterStartError     it did not start, or not whole (has exit status and last lines as evidence)
    - ClusterGone           it was there and has stopped answering, died, or was stopped by someone
    - ClusterBusy           the state directory is in use by a running cluster
    - ClaimRefused          a cluster labkit did not start may not be changed, or its names are taken
    - CapabilityMissing     the cluster lacks what this needs (an API version, access to its etcd, ...)
    - ApiError              the API server refused a request that labkit itself made
  - CommandError            a program was found, but could not be run to an end
    - CommandTimeout        it was still running at its limit and was stopped
  - CourseError             the course's own files are not as they must be
    - NotebookError         a notebook or its metadata
    - ManifestError         a manifest that cannot be read
  - TraceError              the path of an object cannot be told
    - EngineDied            the program that tells it ended in the middle of a request, twice
    - BadDocument           a text is not the one document that is wanted there
    - DefinitionRefused     the server would not take the definition; has its lines
  - WaitTimeout             a condition did not come true in time; says what was seen last

Some rooms refine one for themselves: ``labkit.cluster.refusal.Refused``, an ApiError with the causes by field;
``labkit.course.kernel.KernelDiedError``, ``labkit.observe.prediction.PredictionError``,
``labkit.exercises.model.ExerciseError`` and ``labkit.grading.errors.GradingError``, which are CourseErrors.
"""

from __future__ import annotations

__all__ = [
    "ApiError",
    "BadDocument",
    "CapabilityMissing",
    "ClaimRefused",
    "ClusterBusy",
    "ClusterChoiceError",
    "ClusterError",
    "ClusterGone",
    "ClusterStartError",
    "CommandError",
    "CommandTimeout",
    "CourseError",
    "DefinitionRefused",
    "EngineDied",
    "LabkitError",
    "MachineError",
    "ManifestError",
    "NotebookError",
    "ToolMissing",
    "ToolUnfit",
    "TraceError",
    "WaitTimeout",
]


class LabkitError(Exception):
    """Root of the tree; catch it to show a person one or two lines instead of a traceback.

    *state*, *evidence* and *next_act* are plain text without a final full stop; the last two may be empty.
    """

    def __init__(self, state: str, *, evidence: str = "", next_act: str = "") -> None:
        super().__init__(state, evidence, next_act)
        self.state = state
        self.evidence = evidence
        self.next_act = next_act

    def __str__(self) -> str:
        first = f"{self.state}: {self.evidence}" if self.evidence else self.state
        return f"{first}\n  → {self.next_act}" if self.next_act else first

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.state, self.evidence, self.next_act, self.__dict__))


def _rebuild(
    kind: type[LabkitError], state: str, evidence: str, next_act: str, attributes: dict[str, object]
) -> LabkitError:
    error = kind.__new__(kind)
    LabkitError.__init__(error, state, evidence=evidence, next_act=next_act)
    error.__dict__.update(attributes)
    return error


class MachineError(LabkitError):
    """Something this machine needs is not as it must be."""


class ToolMissing(MachineError):
    """A program cannot be found."""


class ToolUnfit(MachineError):
    """A program is there, but of a version that does not fit."""


class ClusterError(LabkitError):
    """A cluster cannot be had, or is not what the caller relies on."""


class ClusterChoiceError(ClusterError, ValueError):
    """The spelling of a cluster names none."""


class ClusterStartError(ClusterError):
    """A cluster did not start, or not whole; the evidence has its exit status and last lines."""


class ClusterGone(ClusterError, ConnectionError):
    """A cluster that was there no longer answers."""


class ClusterBusy(ClusterError):
    """The state directory belongs to a cluster that is running."""


class ClaimRefused(ClusterError, PermissionError):
    """A cluster that labkit did not start may not be changed: nobody said yes, or the course's names are taken."""


class CapabilityMissing(ClusterError):
    """The cluster lacks what this needs; *capability* is its name as in ``ClusterInfo.capabilities``."""

    def __init__(self, state: str, *, capability: str, evidence: str = "", next_act: str = "") -> None:
        super().__init__(state, evidence=evidence, next_act=next_act)
        self.capability = capability


class ApiError(ClusterError):
    """The API server refused a request of labkit's own; *code* is the HTTP status, *reason* the Status reason."""

    def __init__(self, state: str, *, code: int, reason: str = "", evidence: str = "", next_act: str = "") -> None:
        super().__init__(state, evidence=evidence, next_act=next_act)
        self.code = code
        self.reason = reason


class CommandError(LabkitError):
    """A program was found, but could not be run to an end."""


class CommandTimeout(CommandError, TimeoutError):
    """A program was still running at its limit and was stopped."""


class CourseError(LabkitError):
    """The course's own files are not as they must be."""


class NotebookError(CourseError, ValueError):
    """A notebook or its metadata is not as it must be."""


class ManifestError(CourseError, ValueError):
    """A manifest cannot be read."""


class TraceError(LabkitError):
    """The path of an object cannot be told."""


class EngineDied(TraceError):
    """The program that tells it ended in the middle of a request, and once more when it was started anew."""


class BadDocument(TraceError, ValueError):
    """A text (a file, an argument) is not the one document that is wanted there; *lines* are the server's, if any."""

    def __init__(self, state: str, *, lines: tuple[str, ...] = (), evidence: str = "", next_act: str = "") -> None:
        super().__init__(state, evidence=evidence, next_act=next_act)
        self.lines = lines


class DefinitionRefused(TraceError):
    """The server would not take a definition; *lines* are its complaints word for word, *status* its answer."""

    def __init__(
        self,
        state: str,
        *,
        lines: tuple[str, ...],
        status: dict[str, object] | None = None,
        evidence: str = "",
        next_act: str = "",
    ) -> None:
        super().__init__(state, evidence=evidence, next_act=next_act)
        self.lines = lines
        self.status = status


class WaitTimeout(LabkitError, TimeoutError):
    """A condition did not come true in time; the evidence says what was seen last."""
