"""The same cases asked of the trace, and how its answer differs from the server's.

The program is run apart from ``labkit.trace``, since the suite alone may switch its stages off.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from typing import Any, Self

from labkit.cluster import tools

from .cases import Json
from .server import Outcome, Played, cleaned, plain, refusal

STOP_LIMIT_S = 10.0
_FORGIVEN = re.compile(r"(?!metadata\.)\S+: (Invalid|Required|Duplicate) value|\S+: Forbidden")
"""A warning that is the error of a rule whose value has not changed."""


class Tracer:
    """``controlplane trace``, asked line by line."""

    def __init__(self, *flags: str) -> None:
        argv = [str(tools.find_controlplane()), "trace", *flags]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(STOP_LIMIT_S) == 0

    def ask(self, request: Json) -> Json:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the trace ended: {self._process.wait(STOP_LIMIT_S)}"
        return json.loads(answer)


def request_of(played: Played, without: Sequence[str] = ()) -> Json:
    """A case as the trace is asked about it: the object as a person writes it, what was before as it lies in etcd."""
    case = played.case
    if case.defines:
        asked: Json = {"do": "define", "definition": json.dumps(case.body), "fieldValidation": case.field_validation}
        return asked | ({"oldDefinition": played.before} if played.before else {})
    body = case.body if isinstance(case.body, str) else json.dumps(case.body)
    request: Json = {
        "do": "trace",
        "definition": json.dumps(case.type.document),
        "object": played.before if case.operation == "read" else body,
        "operation": case.operation,
        "readVersion": case.read_version,
        "fieldValidation": case.field_validation,
    }
    if case.operation == "update":
        request["old"] = played.before
    return request | ({"without": list(without)} if without else {})


def outcome_of(answer: Json) -> Outcome:
    """What an answer of the trace says."""
    error = answer.get("error")
    if error is not None:
        if error.get("status"):
            return refusal(error["status"])
        return Outcome("error", lines=(f"{error['kind']}: {error['message']}",))
    result = answer["result"]
    warnings = tuple(sorted(map(plain, result["warnings"])))
    if result["verdict"] == "refused":
        refused = refusal(result["status"], result["warnings"])
        lines = tuple(sorted({plain(line) for line in result["lines"]}))
        assert lines == refused.lines, f"lines that are not the status's: {lines} {refused.lines}"
        return refused
    if result["verdict"] == "unknown":
        return Outcome("unknown", lines=(result["reason"],))
    if "storedVersions" in result:
        told = ("name", "group", "kind", "plural", "scope", "versions", "storedVersions", "conversion")
        return Outcome("accepted", warnings=warnings, facts={key: result[key] for key in told})
    return Outcome("accepted", warnings=warnings, stored=cleaned(result["stored"]), read=cleaned(result["read"]))


def difference(server: Outcome, trace: Outcome) -> list[str]:
    """Where two outcomes differ, a line each part; empty when they say the same."""
    found = []
    for part in ("verdict", "status", "lines", "causes", "warnings", "stored", "read", "facts"):
        one, other = getattr(server, part), getattr(trace, part)
        if part == "stored" and one is None and server.verdict == "accepted":  # a read, or a dry run
            continue
        if not same(one, other):
            found.append(f"{part}: the server {_shown(one)}\n{' ' * len(part)}  the trace  {_shown(other)}")
    return found


def told_by_stages(played: Played, answer: Json) -> list[str]:
    """Where the stages do not add up to what the server said: its lines in validation and rules, its forgiven rules."""
    result = answer.get("result")
    if played.case.operation not in ("create", "update") or result is None:
        return []
    stages = {stage["name"]: stage for stage in result["stages"]}
    if len(stages) != len(result["stages"]):
        return ["a stage is told twice"]
    found = []
    outcome = played.outcome
    if "validation" in stages and (outcome.verdict == "accepted" or outcome.status[1] == "Invalid"):
        tellers = [*stages["validation"]["errors"], *stages.get("cel", {}).get("rules", ())]
        errors = [one for one in tellers if not one["forgiven"]]
        told = {plain(one["line"]) for one in errors if one["line"]}
        missed = set(outcome.lines) ^ told
        missed = {line for line in missed if "some validation rules were not checked" not in line}
        if missed:
            found.append(f"lines of the server that no stage tells, or the reverse: {sorted(missed)}")
    forgiven = tuple(sorted(warning for warning in outcome.warnings if _FORGIVEN.match(warning)))
    ratcheted = tuple(sorted(map(plain, stages.get("ratcheting", {}).get("warnings", ()))))
    if forgiven != ratcheted:
        found.append(f"forgiven rules: the server {list(forgiven)}, the stage {list(ratcheted)}")
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, numbers to their type: 1 is not 1.0, nor true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _shown(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
