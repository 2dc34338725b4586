"""The control plane's program as a trace engine: started once, asked many times.

Starting the program takes longer than a hundred traces, so it stays, one request a line in and one answer a line out.
A child that stays can die between two questions or in one, and can outlive its starter. So its death is noticed by the
end of its output, the question is put once more to a new one, and when that dies too the error says how both ended. One
that neither answers nor ends is ended, and not asked again: what stopped it would stop the next one. It ends with its
standard input, which closes with this process however that ends. Its standard error goes to a file: a pipe that nobody
reads would stop it.
"""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from labkit.cluster import system, tools
from labkit.errors import BadDocument, DefinitionRefused, EngineDied, LabkitError, ToolMissing, TraceError
from labkit.languages import numeral, translate
from labkit.trace.celcost import Costs
from labkit.trace.forecast import Forecast
from labkit.trace.sources import Source
from labkit.trace.values import Definition, Operation, Trace

__all__ = ["FIELD_VALIDATIONS", "Engine", "engine"]

FIELD_VALIDATIONS = ("Strict", "Warn", "Ignore")
"""What to do about fields the schema does not know; kubectl asks for the first."""

STOP_LIMIT_S = 5.0
_SHOWN_LINES = 5
_CRASHES = ("panic: ", "fatal error: ")
"""How a crash of a Go program begins; hundreds of lines of stacks follow."""

_PARTS = {
    "definition": "the definition",
    "oldDefinition": "the old definition",
    "object": "the object",
    "old": "the old object",
}


class Engine:
    """One program, started by the first request. Threads may share it; their requests take turns."""

    ANSWER_LIMIT_S = 120.0
    """Hundreds of times what the longest request takes."""

    def __init__(self, executable: Path | None = None) -> None:
        """*executable* is found (``tools.find_controlplane``) where it is not given."""
        self._executable = executable
        self._child: _Child | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """Of the running program; None before the first request."""
        return self._child.pid if self._child is not None else None

    def trace(  # noqa: PLR0913  (a request has these parts)
        self,
        definition: str | Source,
        object: str | Source,  # noqa: A002  (the protocol's word)
        *,
        old: str | Source | None = None,
        operation: Operation | None = None,
        read_version: str | None = None,
        field_validation: str = "Strict",
    ) -> Trace:
        """The path of *object*: each text is one document in YAML or JSON.

        With *old* (what lies in etcd) it is an update, without it a create; with *operation* "read", *object* is what
        lies in etcd. *read_version* is the version it is read back in, the object's own by default. Raises BadDocument,
        DefinitionRefused, EngineDied, ToolMissing, TraceError.
        """
        request = {
            "definition": definition,
            "object": object,
            "old": old,
            "operation": operation,
            "readVersion": read_version,
            "fieldValidation": field_validation,
        }
        return Trace.from_answer(self._result("trace", request))

    def define(self, definition: str | Source, old: str | Source | None = None) -> Definition:
        """What the server says of a definition, as a new one, or in place of *old*. Raises as ``trace`` does."""
        return Definition.from_answer(self._result("define", {"definition": definition, "oldDefinition": old}))

    def cel_cost(self, definition: str | Source) -> Costs:
        """What the rules of a definition cost. One that is refused for its content has costs too; else as ``trace``."""
        name = definition.name if isinstance(definition, Source) else "the definition"
        return Costs.from_answer(self._result("cel-cost", {"definition": definition}), name)

    def forecasts(
        self,
        definition: str | Source,
        objects: Sequence[Source],
        *,
        old: str | Source | None = None,
        version: str | None = None,
    ) -> tuple[str, tuple[Forecast, ...]]:
        """What becomes of *objects*, which lie in etcd, when *definition* takes the place of *old*: of many in one
        request.

        They are read and written in *version*, by default the one that clients prefer; that comes first. Raises as
        ``trace`` does.
        """
        request = {"definition": definition, "oldDefinition": old, "readVersion": version, "objects": objects}
        result = self._result("preview", request)
        found = []
        for source, raw in zip(objects, result["objects"], strict=True):
            if "error" in raw:
                raise _error(raw["error"], source.name)
            found.append(Forecast.from_answer(raw, source.name))
        return str(result["version"]), tuple(found)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """One request of the protocol, and its answer, an error too. Raises EngineDied, ToolMissing, and
        TraceError when there is no answer within ``ANSWER_LIMIT_S``.
        """
        try:
            line = json.dumps(request, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        except (UnicodeEncodeError, ValueError, TypeError) as error:
            raise BadDocument(translate("a request cannot be written as JSON"), evidence=str(error)) from error
        with self._lock:
            ended: list[str] = []
            answer = self._exchange(line, ended) or self._exchange(line, ended)
        if answer is None:
            raise EngineDied(
                translate(
                    "the control plane's trace ended before it answered, and once more when it was started again"
                ),
                evidence="; ".join(dict.fromkeys(ended)),
                next_act=translate(
                    "make setup builds the control plane anew; if it stays so, tell the authors, with the files"
                ),
            )
        return self._read(answer)

    def stop(self) -> None:
        """Close its standard input and wait until it has ended. Idempotent; a later request starts it again."""
        with self._lock:
            if self._child is not None:
                self._child.stop()
                self._child = None

    def _read(self, answer: bytes) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(answer)
        except ValueError as cause:
            self.stop()
            raise TraceError(
                translate("the control plane's program does not answer as this labkit expects"),
                evidence=answer[:200].decode("utf-8", "replace").strip(),
                next_act=translate("make setup builds the one that fits"),
            ) from cause
        return found

    def _exchange(self, line: bytes, ended: list[str]) -> bytes | None:
        """The answer's line, or None when the program ended instead (how, is put into *ended*).

        An interrupt leaves a question without its answer, so that program is not asked again.
        """
        try:
            child = self._child or self._start()
            answer = child.ask(line, self.ANSWER_LIMIT_S)
        except BaseException:
            begun, self._child = self._child, None
            if begun is not None:
                begun.stop(limit_s=0)
            raise
        if answer is None:
            self._child = None
            how = child.stop()
            if child.hung:
                raise TraceError(
                    translate(
                        "the control plane's trace gave no answer for {limit_s} s, so it was ended",
                        limit_s=numeral(self.ANSWER_LIMIT_S, "g"),
                    ),
                    evidence=how,
                    next_act=translate(
                        "ask again when the machine is idle; if it stays so, tell the authors, with the files"
                    ),
                )
            ended.append(how)
        return answer

    def _start(self) -> _Child:
        try:
            executable = self._executable or tools.find_controlplane()
        except ToolMissing as missing:
            raise ToolMissing(
                translate("a trace needs the control plane's program on this machine, whatever the cluster"),
                evidence=missing.evidence or missing.state,
                next_act=translate("make setup builds it; or set LABKIT_CONTROLPLANE to one")
                if tools.builds_here()
                else translate("install the wheel labkit_controlplane of this platform"),
            ) from missing
        self._child = _Child(executable)
        return self._child

    def _result(self, do: str, parts: Mapping[str, Any]) -> dict[str, Any]:
        """What an answer brings. Raises the error it is instead, with the name of the text it is about."""
        given = {name: part for name, part in parts.items() if part is not None}
        texts = {name: _texts(part) for name, part in given.items()}
        answer = self.ask({"id": 0, "do": do, **texts})
        error = answer.get("error")
        if error is None:
            result: dict[str, Any] = answer["result"]
            return result
        named = given.get(error["kind"])
        version = given.get("readVersion")
        called = f"version {version}" if version is not None else "the request"
        raise _error(error, named.name if isinstance(named, Source) else _PARTS.get(error["kind"], called))


def _texts(part: Any) -> Any:
    if isinstance(part, Source):
        return part.text
    return [one.text for one in part] if isinstance(part, list | tuple) else part


def _error(error: Mapping[str, Any], name: str) -> LabkitError:
    kind, message, lines = error["kind"], " ".join(str(error["message"]).split()), tuple(error.get("lines") or ())
    if kind == "internal":
        return TraceError(
            translate("the control plane failed in this trace"),
            evidence=message,
            next_act=translate("tell the authors, with the files"),
        )
    if kind in ("definition", "oldDefinition") and lines:
        return DefinitionRefused(
            translate("{name}: the server would refuse this definition", name=name),
            lines=lines,
            status=error.get("status"),
            evidence=lines[0] if len(lines) == 1 else "".join(f"\n  {line}" for line in lines),
        )
    return BadDocument(name, lines=lines, evidence=message)


class _Process(subprocess.Popen[bytes]):
    """One that has ended if an interrupt comes while it is started: nobody has it then who could end it."""

    def __init__(self, argv: list[str], **options: Any) -> None:
        self.pid = 0
        try:
            super().__init__(argv, **options)
        except BaseException:
            if self.pid:
                system.kill_group(self)
                self.wait()
            raise


class _Child:
    """The program while it runs, and what it leaves when it has ended.

    *hung* tells that it was ended because it gave no answer.
    """

    hung = False

    def __init__(self, executable: Path) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the child)
        try:
            self._process = _Process(
                [str(executable), "trace"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                **system.aside(),
            )
        except OSError as cause:
            self._errors.close()
            raise TraceError(
                translate("the control plane cannot be run"),
                evidence=f"{executable}: {cause.strerror or cause}",
                next_act=translate("make setup builds it anew"),
            ) from cause
        except BaseException:
            self._errors.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, line: bytes, limit_s: float) -> bytes | None:
        """Its answer to a line; None when it ends instead, or is ended after *limit_s* without an answer."""
        self.hung = False
        limit = threading.Timer(limit_s, self._end_silence)
        limit.daemon = True
        limit.start()
        try:
            return self._answer(line)
        finally:
            limit.cancel()
            limit.join()  # nothing is killed any more that may have been waited for

    def _end_silence(self) -> None:
        self.hung = True
        system.kill_group(self._process)

    def _answer(self, line: bytes) -> bytes | None:
        assert self._process.stdin is not None  # noqa: S101  (both are pipes)
        assert self._process.stdout is not None  # noqa: S101
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:
            return None
        answered = self._process.stdout.readline()
        return answered if answered.endswith(b"\n") else None

    def stop(self, limit_s: float = STOP_LIMIT_S) -> str:
        """Close its standard input, insist when it has not ended after *limit_s*; how it ended, with its last lines."""
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # what was still to be written cannot be
                continue
        for insist in (system.terminate_group, system.kill_group):
            try:
                self._process.wait(limit_s)
                break
            except subprocess.TimeoutExpired:
                insist(self._process)
        status = self._process.wait()
        with self._errors:
            self._errors.seek(0)
            lines = self._errors.read().decode("utf-8", "replace").splitlines()
        crash = next((number for number, line in enumerate(lines) if line.startswith(_CRASHES)), None)
        shown = lines[crash : crash + _SHOWN_LINES] if crash is not None else lines[-_SHOWN_LINES:]
        return "\n  ".join((system.describe_exit(status), *shown))


@functools.cache
def engine() -> Engine:
    """The engine that this process shares, stopped at its end."""
    shared = Engine()
    atexit.register(shared.stop)
    return shared
