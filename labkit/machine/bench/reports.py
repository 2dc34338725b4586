"""What each tool reports of the same objects: kubectl with a dry run on the server, kubectl-validate, a trace.

How fast a tool is says nothing of what it finds. So each gets the same small objects, each with one thing about it that
a server has an opinion on, and what it says is taken down as *findings* with one spelling for all: `spec.api.replicas:
Invalid value` is one finding, whatever the rest of the sentence. Nothing here knows what ought to be found; a row is
there because at least one tool said so.

The objects are the chapter's (crd/objects), or ``principal`` changed in one place, under the chapter's definition. An
object that replaces another is created on the cluster before; kubectl-validate has no way to be told of it. Those that
a schema came to late are created under the definition without one.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from labkit.cluster import Api, Cluster, Kubectl
from labkit.errors import CommandError
from labkit.machine.bench import peer
from labkit.observe import discovery
from labkit.trace import Engine
from labkit.trace.values import Cel, Decoding, Defaulting, Preparing, Pruning, Ratcheting, Trace
from labkit.waiting import Seen, wait_for

__all__ = [
    "ABSENT",
    "DEFINITION",
    "NAMESPACE",
    "TOOLS",
    "Case",
    "Report",
    "by_kubectl",
    "by_peer",
    "by_trace",
    "cases",
    "define",
    "table",
]

NAMESPACE = "ch54"
DEFINITION = Path("crd", "04-colis-complet.yaml")
WITHOUT_SCHEMA = Path("crd", "01-colis-minimal.yaml")
_OBJECTS = Path("crd", "objects")
_LIMIT_S = 60.0

TOOLS = ("kubectl apply --dry-run=server -o json", "kubectl-validate", "labkit trace")
VERDICT = "verdict"
ABSENT = "–"
SAID = "yes"

_COMPLAINT = re.compile(r"(?P<field>\S+): (?P<type>[A-Z][a-z]+(?: [a-z]+)?)(?=:|$)")
_STRICT = re.compile(r'(unknown|duplicate) field "([^"]+)"')
_TWICE = re.compile(r'(line) \d+: key "([^"]+)" already set in map')
_UNCOMPILED = "rule compile error"
_VERDICTS = {False: "accepted", True: "refused"}
_HEAD = re.compile(r'^The \S+ "[^"]*" is invalid: ')


@dataclass(frozen=True)
class Case:
    """One object to report on, and what it replaces: the *old* object, None for a create."""

    name: str
    text: str
    old: str | None = None


@dataclass(frozen=True)
class Report:
    """What one tool said of one object: the *verdict*, and each finding with how it was said."""

    verdict: str
    found: Mapping[str, str] = field(default_factory=dict)


def cases(root: Path) -> tuple[Case, ...]:
    """The objects, from the chapter's files under *root*; each has a name of its own on a cluster."""
    texts = {name: (root / _OBJECTS / f"{name}.yaml").read_text(encoding="utf-8") for name in ("invalide", "mauvais")}
    text = (root / _OBJECTS / "principal.yaml").read_text(encoding="utf-8")

    def principal(name: str, *changes: tuple[str, str], and_: str = "") -> str:
        made = f"{text}    classe: standard\n"  # so that nothing is completed but what a case is about
        for before, after in (("name: principal\n", f"name: {name}\n"), *changes):
            assert before in made, before  # noqa: S101  (the chapter's file is another one)
            made = made.replace(before, after)
        return made + and_

    late = (("replicas: 2", "replicas: 0"), ("min: 0", "min: 9"))
    label = ("namespace: ch54\n", "namespace: ch54\n  labels: {equipe: a}\n")
    return (
        *(Case(f"{name}.yaml", text) for name, text in texts.items()),
        Case("principal.yaml", text),
        Case("a rule broken (`worker.min` over `worker.max`)", principal("rule", ("min: 0", "min: 9"))),
        Case("an unknown field", principal("unknown", and_="  wroker: {}\n")),
        Case("a key given twice", principal("twice", and_="  version: 2.3.0\n")),
        Case("a null where there is a default", principal("nothing", ("replicas: 2", "replicas: null"))),
        Case("a status in the manifest", principal("status", and_="status: {selecteur: app=a}\n")),
        Case("a name and a label that are none", principal("Named", (label[0], label[1].replace(": a}", ": a b}")))),
        Case(
            "an update that breaks transition rules",
            principal("transition", ("2.2.1", "2.1.0"), ("1Gi", "1Mi")),
            principal("transition"),
        ),
        Case(
            "an update of labels; the schema came after the object",
            principal("late-label", *late, label),
            principal("late-label", *late),
        ),
        Case(
            "the same, with one more mistake",
            principal("late-mistake", *late, ("taille: 1Gi", "taille: 1G")),
            principal("late-mistake", *late),
        ),
    )


# -- the cluster's side -----------------------------------------------------------------------------------------------


def define(cluster: Cluster, root: Path, found: Sequence[Case]) -> None:
    """Make *cluster* what the reports are about: the definition, and the old objects, created before it had a schema.

    Raises CommandError when a command is refused, WaitTimeout.
    """
    kubectl = Kubectl(cluster)
    _done(kubectl, "apply", "-f", str(root / WITHOUT_SCHEMA))
    _done(kubectl, "wait", "--for=condition=Established", "crd/colis.cours.example.com")
    discovery.look(cluster, "cours.example.com")  # which follows, and kubectl asks it where to send an object
    _done(kubectl, "apply", "-f", "-", stdin=json.dumps(_namespace()))
    for case in found:
        if case.old is not None:
            _done(kubectl, "apply", "-f", "-", stdin=case.old)
    _done(kubectl, "apply", "-f", str(root / DEFINITION))
    empty = {"apiVersion": "cours.example.com/v1alpha1", "kind": "Colis", "metadata": {"name": "empty"}}
    path = f"/apis/cours.example.com/v1alpha1/namespaces/{NAMESPACE}/colis?dryRun=All"
    with Api(cluster) as api:

        def look() -> Seen[None]:
            answer = api.settled("POST", path, empty)
            return Seen(not answer.ok, "an object without spec is accepted")

        wait_for("the definition's schema to be in force", look, limit_s=_LIMIT_S)


def _namespace() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}


def _done(kubectl: Kubectl, *argv: str, stdin: str | None = None) -> None:
    result = kubectl.run(argv, stdin=stdin)
    if not result.ok:
        raise CommandError(f"{' '.join(result.argv)} failed", evidence=result.stderr.strip()[:300])


# -- what each says ---------------------------------------------------------------------------------------------------


def by_kubectl(cluster: Cluster, case: Case, asked: Report) -> Report:
    """Of a dry run on *cluster*. Defaults and dropped fields are not said but show in the object that it prints:
    looked for are those that the trace (*asked*) tells.
    """
    result = Kubectl(cluster).run(("apply", "--dry-run=server", "-o", "json", "-f", "-"), stdin=case.text)
    if not result.ok:
        lines = [_HEAD.sub("", line).removeprefix("* ") for line in result.stderr.splitlines()]
        return Report("refused", _complaints(lines))
    printed = result.json
    shown = {}
    for finding in asked.found:
        what, _, path = finding.partition(" `")
        there = _has(printed, path.rstrip("`"))
        if what == "default" and there:
            shown[finding] = "in its output"
        elif what == "dropped" and not there:
            shown[finding] = "not in its output"
    return Report("accepted", shown)


def by_peer(program: Path, case: Case, folder: Path, root: Path) -> Report:
    """Of kubectl-validate, with the definition from a folder and no cluster. Raises CommandError for no report.

    Its libraries are of an older Kubernetes. A rule that they cannot compile makes it refuse every object that has no
    other mistake; so that the rest can be compared too, it is then asked again about the definition without that rule.
    """
    definition = (root / DEFINITION).read_text(encoding="utf-8")
    code, said = _peer_says(program, case, folder, definition)
    broken = [text for text in said if _UNCOMPILED in text]
    if not broken:
        return Report(_VERDICTS[code], _peer_finds(said))
    without = yaml.safe_load(definition)
    _drop_rules(without, broken)
    code_without, rest = _peer_says(program, case, folder, json.dumps(without))
    found = {f"`{text.partition(':')[0]}`: a rule that it cannot compile": SAID for text in broken}
    verdict = f"{_VERDICTS[code]}; {_VERDICTS[code_without]} without that rule"
    return Report(verdict, found | _peer_finds(rest))


def _peer_says(program: Path, case: Case, folder: Path, definition: str) -> tuple[bool, list[str]]:
    """Whether it ended with an error, and its complaints, each after the field it is about."""
    file = folder / "object.yaml"
    file.write_text(case.text, encoding="utf-8")
    argv = [*peer.argv(program, file, folder, definition), "-o", "json"]
    done = subprocess.run(argv, env=peer.environ(folder), capture_output=True, text=True, check=False)
    try:
        (statuses,) = json.loads(done.stdout).values()
    except ValueError as error:
        raise CommandError("kubectl-validate gave no report", evidence=done.stderr.strip()[:300]) from error
    causes = [cause for status in statuses for cause in (status.get("details") or {}).get("causes") or ()]
    return done.returncode != 0, [f"{cause.get('field', '')}: {cause['message']}" for cause in causes]


def _peer_finds(said: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in said:
        twice = _TWICE.search(text)
        if text.endswith("value provided for unknown field"):
            found[f"unknown field `{text.partition(':')[0]}`"] = SAID
        elif twice:
            found[f"duplicate field `{twice[2]}`"] = f"yes, with its {twice[1]}"
        else:
            found |= _complaints([text])
    return found


def _drop_rules(schema: Any, broken: Sequence[str]) -> None:
    """Take away the rules, anywhere in a definition, that a complaint quotes."""
    if isinstance(schema, dict):
        rules = schema.get("x-kubernetes-validations") or []
        rules[:] = [rule for rule in rules if not any(rule["rule"] in text for text in broken)]
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _drop_rules(inner, broken)


def by_trace(engine: Engine, definition: str, case: Case) -> Report:
    """Of ``labkit trace``. Raises as ``Engine.trace`` does."""
    traced = engine.trace(definition, case.text, old=case.old)
    return Report(traced.verdict, {**_complaints(traced.lines), **_along_the_way(traced)})


def _along_the_way(traced: Trace) -> dict[str, str]:
    found: dict[str, str] = {}
    for stage in traced.stages:
        match stage:
            case Decoding():
                found |= {f"unknown field `{path}`": SAID for path in stage.unknown}
                found |= {f"duplicate field `{path}`": SAID for path in stage.duplicated}
            case Pruning(name="pruning"):
                found |= {f"dropped `{path}`": SAID for path in (*stage.paths, *stage.nulls)}
            case Defaulting(name="defaulting"):
                found |= {f"default `{added.path}`": SAID for added in stage.added}
            case Preparing():
                found |= {f"dropped `{path}`": SAID for path in stage.dropped}
            case Ratcheting():
                found |= {f"forgiven {finding}": SAID for finding in _complaints(stage.forgiven)}
            case Cel():
                run = [rule for rule in stage.rules if rule.result != "skipped"]
                found["rules run, and their cost"] = f"{len(run)} of {len(stage.rules)}, {stage.cost}"
            case _:
                pass
    return found


def _complaints(lines: Sequence[str]) -> dict[str, str]:
    """The findings in complaints, in order."""
    found: dict[str, str] = {}
    for line in lines:
        strict = _STRICT.findall(line)
        complaint = _COMPLAINT.match(line)
        if strict:
            found |= {f"{what} field `{path}`": SAID for what, path in strict}
        elif complaint:
            found[f"`{complaint['field']}: {complaint['type']}`"] = SAID
    return found


def _has(document: Any, path: str) -> bool:
    for key in path.split("."):
        if not isinstance(document, dict) or key not in document:
            return False
        document = document[key]
    return True


# -- the table --------------------------------------------------------------------------------------------------------


def table(reports: Mapping[str, Sequence[Report | None]]) -> str:
    """A Markdown table: a row for each case's verdict and for each finding, a column for each of TOOLS.

    *reports* has for each case one report a tool, None where that tool could not be had.
    """
    head = ("object", "reported", *(f"`{tool}`" for tool in TOOLS))
    rows = [head, ("---",) * len(head)]
    for name, row in reports.items():
        rows.append((name, VERDICT, *("not measured" if one is None else one.verdict for one in row)))
        for finding in _ordered(one.found for one in reversed(row) if one is not None):
            said = ("" if one is None else one.found.get(finding, ABSENT) for one in row)
            rows.append(("", finding, *said))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _ordered(columns: Iterable[Mapping[str, str]]) -> list[str]:
    """The findings of the first column as they are, then the others in alphabetical order: a server's has no order."""
    first, *others = columns
    return [*first, *sorted({finding for column in others for finding in column} - first.keys())]
