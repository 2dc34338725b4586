"""One value of each observation, as a cluster gave it, for views that must not need one."""

from __future__ import annotations

from dataclasses import replace

from labkit.observe.changes import ABSENT, Change
from labkit.observe.cleanup import CleanUp
from labkit.observe.cost import Cost, Plan, Round, Step
from labkit.observe.definition import AcceptedNames, Condition, DefinedVersion, Definition
from labkit.observe.discovery import Group, GroupVersion, ServedType, Subresource
from labkit.observe.fields import Cause, PrunedAndDefaulted, Refusal
from labkit.observe.migration import KeyMoved, Migration
from labkit.observe.reading import Reading
from labkit.observe.stored import Read, Stored, StoredAndRead
from labkit.show.document import Cell, Document, Table
from labkit.trace.celcost import Costs
from labkit.trace.values import Trace

from .samples_prediction import QUESTION, SCORE, VERDICT
from .samples_preview import PREVIEW

COLIS = "colis.cours.example.com"
KEYS = "/registry/cours.example.com/colis/ch54"
MIB = 2**20

DEFINITION = Definition(
    name=COLIS,
    group="cours.example.com",
    plural="colis",
    namespaced=True,
    accepted_names=AcceptedNames("colis", "colis", "Colis", "ColisList", ("cl",), ("cours",)),
    conditions=(
        Condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", "2026-11-30T13:00:00Z"),
        Condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ),
    versions=(
        DefinedVersion("v1alpha1", served=True, storage=False, deprecated=True, warning="dépréciée"),
        DefinedVersion("v1", served=True, storage=True, deprecated=False, warning=""),
    ),
    stored_versions=("v1alpha1", "v1"),
    conversion="None",
    finalizers=("customresourcecleanup.apiextensions.k8s.io",),
)

GROUP = Group(
    "cours.example.com",
    preferred="v1",
    versions=(
        GroupVersion(
            "v1",
            (
                ServedType(
                    plural="colis",
                    singular="colis",
                    kind="Colis",
                    namespaced=True,
                    verbs=("get", "list"),
                    short_names=("cl",),
                    categories=("cours",),
                    subresources=(Subresource("scale", "Scale", ("get",)),),
                ),
            ),
        ),
    ),
)

STORED = StoredAndRead(
    definition=COLIS,
    namespace="ch54",
    name="mauvais",
    stored=Stored(
        key=f"{KEYS}/mauvais",
        api_version="cours.example.com/v1alpha1",
        mod_revision=417,
        content={"apiVersion": "cours.example.com/v1alpha1", "kind": "Colis", "spec": {"wroker": {"max": 5}, "l": [1]}},
    ),
    reads=(
        Read(
            version="v1",
            content={"apiVersion": "cours.example.com/v1", "kind": "Colis", "spec": {"base": {"n": 1}, "l": [1]}},
            changes=(
                Change(("apiVersion",), "converted", "cours.example.com/v1alpha1", "cours.example.com/v1"),
                Change(("spec", "base"), "defaulted", ABSENT, {"n": 1}),
                Change(("spec", "wroker"), "pruned", {"max": 5}, ABSENT),
            ),
            warnings=("dépréciée",),
        ),
    ),
)

FIELDS = PrunedAndDefaulted(
    api_version="cours.example.com/v1",
    kind="Colis",
    namespace="ch54",
    name="mini",
    sent_as="new",
    changes=(Change(("spec", "worker"), "defaulted", ABSENT, {"max": 5, "min": 0}),),
    warnings=('unknown field "spec.wroker"',),
    refusal=None,
)

REFUSED = PrunedAndDefaulted(
    api_version="cours.example.com/v1",
    kind="Colis",
    namespace="ch54",
    name="vide",
    sent_as="update",
    changes=(),
    warnings=(),
    refusal=Refusal(422, "all of it", (Cause("spec", "FieldValueRequired", "Required value"),)),
)

REFUSAL = Refusal(422, "all of it", (Cause("spec.a", "FieldValueInvalid", "<b>too</b> small"),), "Invalid")

MIGRATION = Migration(
    name="colis-vers-v1",
    definition=COLIS,
    storage_version="v1",
    conditions=(Condition("Succeeded", "True", "StorageVersionMigrationSucceeded", "Migration completed"),),
    keys=(
        KeyMoved(f"{KEYS}/ancien", "v1", "v1", rewritten=True),
        KeyMoved(f"{KEYS}/principal", "v1alpha1", "v1", rewritten=True),
    ),
    stored_versions=("v1",),
    seconds=0.44,
)


def reading(added: int, memory_mib: float) -> Reading:
    return Reading(
        definitions=1 + added,
        types=72 + added,
        groups=21 + (added > 0),
        discovery_bytes=3922 + 168 * (added > 0),
        aggregated_bytes=21154 + 235 * added,
        group_versions=25 + (added > 0),
        openapi_bytes=43526 * added,
        memory_bytes=int(memory_mib * MIB),
        heap_bytes=100 * MIB + added * MIB,
        stored_bytes=2048 * added,
        database_bytes=300 * 1024 + 8192 * added,
    )


def step(definitions: int, memory_mib: float, established_s: float) -> Step:
    return Step(
        definitions,
        0,
        reading(definitions, memory_mib),
        established_s=established_s,
        published_s=established_s + 0.2,
        stored_s=0.0,
        cold_s=(0.06, 0.07, 0.09),
        warm_s=(0.04, 0.05, 0.04),
    )


COST = Cost(
    plan=Plan((1, 10, 50), repeats=2),
    group_version="cout.example.com/v1",
    apart=False,
    whole=True,
    rounds=(
        Round(reading(0, 334.3), (step(1, 336, 0.02), step(10, 350, 0.2), step(50, 406.2, 0.8)), reading(0, 501)),
        Round(reading(0, 501), (step(1, 500, 0.02), step(10, 480, 0.1), step(50, 459.3, 0.5)), reading(0, 500)),
    ),
)

OBJECTS_COST = Cost(
    plan=Plan((1,), (0, 100, 1000), repeats=1),
    group_version="cout.example.com/v1",
    apart=True,
    whole=True,
    rounds=(
        Round(
            reading(0, 300),
            tuple(
                replace(step(1, 302 + objects / 64, 0.1), objects=objects, stored_s=objects / 500)
                for objects in (0, 100, 1000)
            ),
            reading(0, 310),
        ),
    ),
)

CLEANED = CleanUp(
    deleted=("namespaces/ch54", f"customresourcedefinitions/{COLIS}"),
    absent=("clusterroles/colis-lecture",),
    left=(),
    keys_before=2,
    keys_left=0,
    seconds=5.31,
)

EVIL = "<script>alert(1)</script>"

SENT = {
    "apiVersion": "cours.example.com/v1alpha1",
    "kind": "Colis",
    "metadata": {"name": "mauvais", "namespace": "ch54"},
    "spec": {"version": "2.2.1", "api": {"replicas": 0}, "wroker": {"max": 5}, "note": EVIL},
}
PRUNED = {**SENT, "spec": {key: value for key, value in SENT["spec"].items() if key != "wroker"}}  # type: ignore[attr-defined]
FILLED = {**PRUNED, "spec": {**PRUNED["spec"], "worker": {"min": 0, "max": 5}}}  # type: ignore[dict-item]

TRACE = Trace.from_answer(
    {
        "operation": "create",
        "verdict": "refused",
        "reason": "",
        "status": {"code": 422, "reason": "Invalid", "message": 'Colis.cours.example.com "mauvais" is invalid: …'},
        "lines": [
            "spec.api.replicas: Invalid value: 0: spec.api.replicas in body should be greater than or equal to 1"
        ],
        "warnings": ['unknown field "spec.wroker"'],
        "stages": [
            {
                "name": "decoding",
                "title": "decode the request",
                "source": "a.go: Decode",
                "object": SENT,
                "unknown": ["spec.wroker"],
                "duplicated": ["spec.version"],
                "errors": [],
            },
            {
                "name": "pruning",
                "title": "prune",
                "source": "b.go: P",
                "object": PRUNED,
                "paths": ["spec.wroker"],
                "nulls": [],
            },
            {
                "name": "defaulting",
                "title": "fill in defaults",
                "source": "c.go: D",
                "object": FILLED,
                "added": [{"path": "spec.worker", "value": {"min": 0, "max": 5}}],
            },
            {
                "name": "admission",
                "title": "mutating admission",
                "source": "d.go: A",
                "configured": False,
                "text": "none configured",
            },
            {
                "name": "validation",
                "title": "validate",
                "source": "e.go: V",
                "errors": [
                    {
                        "line": "spec.api.replicas: Invalid value: 0: spec.api.replicas in body should be greater "
                        "than or equal to 1",
                        "field": "spec.api.replicas",
                        "type": "FieldValueInvalid",
                        "detail": "spec.api.replicas in body should be greater than or equal to 1",
                        "value": 0,
                        "forgiven": False,
                    }
                ],
            },
            {
                "name": "cel",
                "title": "run the rules",
                "source": "f.go: C",
                "rules": [
                    {
                        "path": "spec.worker",
                        "schemaPath": "spec.worker",
                        "rule": "self.min <= self.max",
                        "result": "passed",
                        "message": "",
                        "line": "",
                        "cost": 7,
                        "skipped": "",
                        "forgiven": False,
                    },
                    {
                        "path": "spec",
                        "schemaPath": "spec",
                        "rule": "self.version >= oldSelf.version",
                        "result": "skipped",
                        "message": "",
                        "line": "",
                        "cost": 0,
                        "skipped": "no old value",
                        "forgiven": False,
                    },
                ],
                "cost": 7,
                "budget": 10000000,
            },
        ],
        "stored": None,
        "read": None,
    }
)

COSTS = Costs.from_answer(
    {
        "expressions": [
            {
                "version": "v1",
                "path": "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule",
                "kind": "rule",
                "expression": "self.l.all(x, x.n < 3 && x.s != '<b>')",
                "estimatedCost": 30000000,
                "cardinality": 1,
                "expressionLimit": 10000000,
                "schemaLimit": 100000000,
                "share": {"expression": 3, "schema": 0.3},
                "advice": [
                    {
                        "kind": "bounds",
                        "bounds": [
                            {
                                "path": "spec.validation.openAPIV3Schema.properties[spec].properties[l]",
                                "field": "spec.l",
                                "keyword": "maxItems",
                                "value": 7,
                                "present": None,
                            }
                        ],
                        "oneMore": "any",
                        "estimatedCost": 99,
                    }
                ],
                "error": "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Forbidden: no",
            },
            {
                "version": "v1",
                "path": "spec.validation.openAPIV3Schema.x-kubernetes-validations[1].messageExpression",
                "kind": "messageExpression",
                "expression": "'<script>' + string(self.n)",
                "estimatedCost": "18446744073709551615",
                "cardinality": None,
                "expressionLimit": 10000000,
                "schemaLimit": 100000000,
                "share": {"expression": 1844674407370.9551, "schema": 184467440737.09551},
                "advice": [
                    {
                        "kind": "noBounds",
                        "bounds": [],
                        "expression": "'<script>%d'.format([self.n])",
                        "estimatedCost": 13,
                    }
                ],
                "error": "",
            },
        ],
        "schemas": [
            {
                "version": "v1",
                "path": "spec.validation.openAPIV3Schema",
                "total": "18446744073709551615",
                "limit": 100000000,
            }
        ],
        "lines": [
            "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Forbidden: no",
            "spec.validation.openAPIV3Schema: Forbidden: the total",
        ],
    },
    "crd/one.yaml",
)

TABLE = Document("anything", (Table(("a", "b"), ((Cell("1"), Cell("x")),)),))

ALL: tuple[object, ...] = (
    *(DEFINITION, GROUP, STORED, FIELDS, REFUSED, REFUSAL, MIGRATION, COST, COSTS, CLEANED, TRACE, TABLE),
    *(PREVIEW, QUESTION, SCORE, VERDICT),
)
