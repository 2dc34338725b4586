"""The messages of the chapter: what each of the server's refusals and warnings means, and what mends it.

Who meets a refusal has its words and nothing else, so a message is known here by words of the server that stand in it.
Its lines are not written here: they are taken from what the notebooks record, by the step that shows them. Nor are
manifests: those are files of ``crd/`` with the change that the step makes, so that a test can play them and demand the
very lines of the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from labkit.languages import worded
from labkit.show.prediction import STATIONS

__all__ = ["MESSAGES", "NOT_COVERED", "PLACES", "Given", "Message", "Place"]

Place: TypeAlias = Literal["request", "definition", "decoding", "validation", "cel"]

PLACES: Mapping[Place, str] = {
    "request": worded("Before the path"),
    "definition": worded("A definition is registered"),
    "decoding": STATIONS["decoding"],
    "validation": STATIONS["validation"],
    "cel": STATIONS["cel"],
}
"""The parts of the page, in the order in which a write meets them."""


@dataclass(frozen=True)
class Given:
    """Manifests that give a message: *definition* and *object* are files of ``crd/``, *change* is what the step changes
    in the object (a merge patch), *old* what it changes in the object that lies in etcd (None: it is a new one).

    *before* is the definition that is replaced, with *stored* as its status.storedVersions.
    """

    definition: str
    object: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)
    old: Mapping[str, Any] | None = None
    before: str = ""
    stored: tuple[str, ...] = ()
    validate: str = "Strict"


@dataclass(frozen=True)
class Message:
    """One message. *words* are the server's, the first of them its name; *steps* show it, the first of them first.

    *given* gives it and *mended* does not any more. Without *given*, no manifest gives it, and *asked* says why; with
    *played* false the playground cannot tell it, and *asked* says what it does instead.
    """

    anchor: str
    place: Place
    words: tuple[str, ...]
    steps: tuple[str, ...]
    means: str
    mends: str
    given: Given | None = None
    mended: Given | None = None
    asked: str = ""
    played: bool = True


_SCHEMA, _RULES, _BOTH, _V1 = (
    "02-colis-schema.yaml",
    "03-b-default-complet.yaml",
    "05-colis-v1.yaml",
    "06-colis-v1-seul.yaml",
)
_MINI, _PRINCIPAL, _MAUVAIS = "objects/mini.yaml", "objects/principal.yaml", "objects/mauvais.yaml"


_TOTALS = ("contributed to estimated rule cost total", "estimated rule cost total for entire OpenAPIv3 schema exceeds")


def _spec(**fields: Any) -> dict[str, Any]:
    return {"spec": fields}


_NO_DISCOVERY = worded(
    "The playground has one definition and asks no server what else there is: it says that the definition has no such "
    "version."
)
_COMMAND = worded("No manifest gives it: it is the command that asks.")

MESSAGES: tuple[Message, ...] = (
    Message(
        "message-no-resource-type",
        "request",
        ("the server doesn't have a resource type",),
        ("a-new-type/unknown-type", "versions/v1alpha1-gone", "cost/get-after-refresh"),
        worded(
            "kubectl asked the server for its types (discovery) and found none of this name, so no request was sent. "
            "The definition is not there, is not Established yet, or serves this version no more."
        ),
        worded(
            "Apply the definition and wait: `kubectl wait --for=condition=Established crd/NAME`. If it is there, ask "
            "`kubectl api-resources --api-group=GROUP` for the names and versions that are served."
        ),
        asked=_COMMAND,
    ),
    Message(
        "message-no-matches-for-kind",
        "request",
        ("no matches for kind", "ensure CRDs are installed first"),
        ("versions/old-manifest", "cost/ensemble-first"),
        worded(
            "The manifest names a kind in a version that discovery does not have. Either the version is no longer "
            "served, or the definition comes in the same command: kubectl looks up every kind before it sends the "
            "first object."
        ),
        worded(
            "Write the version that is served as `apiVersion`. Where the definition is in the same file, apply it "
            "first, wait until it is Established, then apply the file."
        ),
        Given(_V1, "objects/ancien.yaml"),
        Given(_V1, "objects/ancien.yaml", {"apiVersion": "cours.example.com/v1"}),
        asked=_NO_DISCOVERY,
        played=False,
    ),
    Message(
        "message-not-found",
        "request",
        ("the server could not find the requested resource",),
        ("cost/get-after-delete", "cost/ensemble-warm"),
        worded(
            "kubectl still remembers the type from an earlier look, and sent the request to a URL that is gone, or not "
            "there yet. It is the server that answers here: 404."
        ),
        worded(
            "kubectl forgets what it remembers of types after some hours, or at once with `kubectl api-resources`; or "
            "wait until the new definition is Established. A dry run of a definition registers nothing, so objects of "
            "the same file find no URL."
        ),
        asked=_COMMAND,
    ),
    Message(
        "message-already-exists",
        "request",
        ("(AlreadyExists)",),
        ("a-new-type/namespace",),
        worded("`kubectl create` makes something new, and an object of this name is there. Nothing was changed."),
        worded("Use the one that is there, take another name, or `kubectl apply` a manifest, which updates it."),
        asked=_COMMAND,
    ),
    Message(
        "message-field-label",
        "request",
        ("field label not supported",),
        ("display/selected-refused",),
        worded(
            "A field selector can name `metadata.name`, `metadata.namespace` and the fields that the version lists as "
            "`selectableFields`, and no other."
        ),
        worded(
            "Add the field's path to `selectableFields` of the version, or select by label. The fields listed must be "
            "strings, integers or booleans."
        ),
        asked=_COMMAND,
    ),
    Message(
        "message-default-and-rule",
        "definition",
        ("no such key",),
        ("cel/refused-default", "typed-resources/empty-default-server"),
        worded(
            "A default must itself satisfy the schema, and the server tries it when the definition is registered, "
            "rules included. `default: {}` is judged as it is written: the defaults inside it are not filled in first, "
            "so the rule looks for a field that is not there."
        ),
        worded(
            "Write the default out in full (`{min: 0, max: 5}`), or let the rule ask first: `!has(self.min) || "
            "!has(self.max) || self.min <= self.max`."
        ),
        Given("03-a-default-vide.yaml"),
        Given("03-b-default-complet.yaml"),
    ),
    Message(
        "message-message-cost",
        "definition",
        ("estimated messageExpression cost exceeds budget", *_TOTALS),
        ("cel/refused-string",),
        worded(
            "Before any object exists the server estimates the most that a rule can cost, and `messageExpression` "
            "counts like a rule. `string(self.min)` makes a text whose length the estimator does not know, and for it "
            "assumes the longest that there could be: a `maxLength` in the schema does not reach it."
        ),
        worded(
            "Let `format` put the number into the text: `'min (%d)'.format([self.min])`. Or give a fixed `message`. "
            "`labkit cel-cost` tells what each rule costs."
        ),
        Given("03-d-message-string.yaml"),
        Given("03-b-default-complet.yaml"),
    ),
    Message(
        "message-rule-cost",
        "definition",
        ("estimated rule cost exceeds budget", *_TOTALS),
        ("cel/list-unbounded",),
        worded(
            "A rule that walks a list costs as much as the longest list allowed, and a loop within a loop the square "
            "of it. A list without `maxItems` may be as long as a request of 3 MiB can carry."
        ),
        worded(
            "Bound what the rule walks: `maxItems` for lists, `maxProperties` for maps, `maxLength` for strings, at "
            "the innermost place first. `labkit cel-cost` names the bound that would do."
        ),
        Given("03-e-liste-sans-borne.yaml"),
        Given("03-e-liste-bornee.yaml"),
    ),
    Message(
        "message-selectable-fields",
        "definition",
        ("may only be set when validations.schema is included",),
        ("versions/identical-selectable",),
        worded(
            "The server checks a definition in an internal form, in which a block that is the same in all versions is "
            "moved up to `spec`. The `selectableFields` are the same and move; the schemas differ and stay. Then there "
            "are selectable fields at the top and no schema beside them. So the message speaks of a field that stands "
            "in no file."
        ),
        worded(
            "Let the lists differ: give `selectableFields` to the versions that need them, and not to all. Here the "
            "old version does without."
        ),
        Given("05-colis-v1-selectable-partout.yaml"),
        Given(_BOTH),
    ),
    Message(
        "message-stored-versions",
        "definition",
        ("missing from spec.versions",),
        ("versions/v1alpha1-kept",),
        worded(
            "`status.storedVersions` lists every version that was ever the stored one. The server does not look into "
            "etcd: as long as a version is on the list, objects may lie there in it, and a definition without it could "
            "not read them."
        ),
        worded(
            "Migrate first: a StorageVersionMigration (`crd/08-migration.yaml`) writes every object anew and takes the "
            "old version off the list. Then the definition without it is accepted."
        ),
        Given(_V1, before=_BOTH, stored=("v1alpha1", "v1")),
        Given(_V1, before=_BOTH, stored=("v1",)),
        asked=worded(
            "The playground has no field for the definition that is replaced, so it judges this one as new, and takes "
            "it."
        ),
        played=False,
    ),
    Message(
        "message-unknown-field",
        "decoding",
        ("strict decoding error: unknown field",),
        ("schema/strict", "typed-resources/strict"),
        worded(
            "The schema has no such field, and kubectl asks for strict decoding by default. The path of the object "
            "ends here: no value was looked at, so further mistakes are not told."
        ),
        worded(
            "Correct the name (`kubectl explain TYPE --recursive` lists them), or add the field to the schema. With "
            "`--validate=false` the object goes on, and the field is silently taken away."
        ),
        Given(_SCHEMA, _MAUVAIS),
        Given(_SCHEMA, _MAUVAIS, _spec(wroker=None, worker={"max": 5}, api={"replicas": 2})),
    ),
    Message(
        "message-unknown-field-warning",
        "decoding",
        ("Warning: unknown field",),
        ("path/request-refused", "path/trace-forgiven"),
        worded(
            "With `--validate=warn` an unknown field is no reason to refuse: it is named, and then pruned. It is not "
            "in what is stored, even if the object is accepted."
        ),
        worded("Correct the name, or add the field to the schema, as for the refusal."),
        Given(_SCHEMA, _MAUVAIS, {"metadata": {"name": "mauvais-2"}}, validate="Warn"),
        Given(_SCHEMA, _MAUVAIS, _spec(wroker=None, worker={"max": 5}, api={"replicas": 2}), validate="Warn"),
        asked=worded("Choose `--validate=warn` in the playground: a link does not bring it along."),
    ),
    Message(
        "message-deprecated",
        "request",
        ("est dépréciée",),
        ("versions/ancien", "versions/read-v1alpha1"),
        worded(
            "The version of this request is marked `deprecated: true`, and the text is the definition's own "
            "`deprecationWarning`. Only a warning: the request was carried out."
        ),
        worded("Write the manifest in the new version. It comes with every request in the old one, reading included."),
        Given(_BOTH, "objects/ancien.yaml"),
        Given(_BOTH, "objects/ancien.yaml", {"apiVersion": "cours.example.com/v1"}),
    ),
    Message(
        "message-required",
        "validation",
        ("Required value",),
        ("schema/required",),
        worded(
            "A field listed under `required` is not there. Defaults were filled in before: a field that has a default, "
            "in a parent that is there, can never be missing."
        ),
        worded("Write the field; or, as the author of the definition, give it a default or take it off the list."),
        Given(_SCHEMA, "objects/vide.yaml"),
        Given(_SCHEMA, "objects/vide.yaml", _spec(version="2.2.1")),
    ),
    Message(
        "message-type",
        "validation",
        ("must be of type",),
        ("schema/ratchet-new-object", "schema/ratchet-catches", "path/request-refused"),
        worded(
            "The value is of another type than the schema says: here a string where an integer belongs. What stands in "
            "quotes is the type that was found, and not the value. An update that leaves an old value as it was is not "
            "refused for it (ratcheting); a new object, or another wrong value, is."
        ),
        worded('Mind the quotes of YAML: `2` is an integer, `"2"` a string, and `2.10` without quotes a number.'),
        Given(_SCHEMA, _MAUVAIS, {"metadata": {"name": "mauvais-2"}} | _spec(wroker=None)),
        Given(_SCHEMA, _MAUVAIS, {"metadata": {"name": "mauvais-2"}} | _spec(wroker=None, api={"replicas": 2})),
    ),
    Message(
        "message-minimum",
        "validation",
        ("should be greater than or equal to",),
        ("schema/five-errors", "typed-resources/invalide-beside"),
        worded("The number is below the schema's `minimum`. The number found stands in front, the bound at the end."),
        worded("Take a number within the bounds; `kubectl explain` shows the field, the definition its bounds."),
        Given(_SCHEMA, _MINI, _spec(api={"replicas": 0})),
        Given(_SCHEMA, _MINI, _spec(api={"replicas": 1})),
    ),
    Message(
        "message-maximum",
        "validation",
        ("should be less than or equal to",),
        ("schema/five-errors", "typed-resources/invalide-beside"),
        worded("The number is above the schema's `maximum`."),
        worded("Take a number within the bounds. All mistakes of an object are told at once, so mend them together."),
        Given(_SCHEMA, _MINI, _spec(worker={"max": 50})),
        Given(_SCHEMA, _MINI, _spec(worker={"max": 20})),
    ),
    Message(
        "message-enum",
        "validation",
        ("Unsupported value:",),
        ("schema/five-errors", "typed-resources/invalide-beside"),
        worded("The value is none of the schema's `enum`, which the message lists."),
        worded("Take one from the list, small and capital letters as they are there."),
        Given(_SCHEMA, _MINI, _spec(base={"classe": "rapide"})),
        Given(_SCHEMA, _MINI, _spec(base={"classe": "csi-hostpath-sc"})),
    ),
    Message(
        "message-pattern",
        "validation",
        ("should match",),
        ("schema/five-errors", "typed-resources/invalide-beside", "typed-resources/newline"),
        worded(
            "The string does not fit the schema's `pattern`, a regular expression of Go (RE2), which is searched for "
            "anywhere in the string unless `^` and `$` bind it. `$` is the end of the string there, not of a line."
        ),
        worded(
            "Compare the value with the pattern from the left. Invisible signs count: a newline at the end of a string "
            "(`|` in YAML) is enough."
        ),
        Given(_SCHEMA, _MINI, _spec(version="2.2", base={"taille": "1G"})),
        Given(_SCHEMA, _MINI, _spec(version="2.2.0", base={"taille": "1Gi"})),
    ),
    Message(
        "message-not-checked",
        "validation",
        ("some validation rules were not checked",),
        ("typed-resources/invalide-beside",),
        worded(
            "No mistake of its own: the schema's mistakes are told beside it, and because of them the rules in CEL "
            "were not run. They may find more."
        ),
        worded("Mend what the schema complains of, and send the object again: then the rules are run."),
        Given("04-colis-complet.yaml", "objects/invalide.yaml"),
        Given(
            "04-colis-complet.yaml",
            "objects/invalide.yaml",
            _spec(
                version="2.2.0", api={"replicas": 1}, worker={"max": 20}, base={"taille": "1Gi", "classe": "standard"}
            ),
        ),
    ),
    Message(
        "message-rule",
        "cel",
        ("dépasse max",),
        ("cel/unwritten-field", "cel/patch-min", "typed-resources/default-and-rule"),
        worded(
            "A rule of the definition in CEL does not hold. What follows the path is the rule's own `message` or "
            "`messageExpression`, written by the author of the definition, in whatever language. The path is where the "
            "rule is declared. The object judged is the one completed by defaults and merged with what was stored: the "
            "value complained of may stand in no manifest."
        ),
        worded(
            "Read the rule at that path in the definition, and look at the whole object: `kubectl apply "
            "--dry-run=server -o yaml` shows one that passes, `labkit trace` one that does not."
        ),
        Given(_RULES, _MINI, {"metadata": {"name": "sept"}} | _spec(worker={"min": 7})),
        Given(_RULES, _MINI, {"metadata": {"name": "sept"}} | _spec(worker={"min": 7, "max": 9})),
    ),
    Message(
        "message-transition",
        "cel",
        ("un volume ne rétrécit pas",),
        ("cel/patch-shrink", "cel/first-manifest", "typed-resources/transition"),
        worded(
            "A transition rule: it names `oldSelf` and compares with what is stored. It is not run when an object is "
            "created, so the same manifest may pass one day and be refused on another."
        ),
        worded("Read the object that is there (`kubectl get -o yaml`), and ask for a change that the rule allows."),
        Given(_RULES, _PRINCIPAL, _spec(base={"taille": "512Mi"}), old={}),
        Given(_RULES, _PRINCIPAL, _spec(base={"taille": "2Gi"}), old={}),
    ),
    Message(
        "message-transition-above",
        "cel",
        ("pas de retour à une version antérieure",),
        ("cel/patch-back", "cel/first-manifest"),
        worded(
            "A transition rule as well, declared one level higher, so that it also sees whether a field was there at "
            "all. Therefore the path is `spec` and not `spec.version`."
        ),
        worded("Take a version that is not older. An old manifest in a repository is an attempt to go back."),
        Given(_RULES, _PRINCIPAL, _spec(version="2.9.9"), old=_spec(version="2.10.0")),
        Given(_RULES, _PRINCIPAL, _spec(version="2.10.1"), old=_spec(version="2.10.0")),
    ),
    Message(
        "message-forbidden",
        "request",
        ("is forbidden: User",),
        ("rbac/forbidden", "rbac/reader-scales"),
        worded(
            "Rights (RBAC) were asked for the verb, the resource and the namespace, before the object was looked at. A "
            "new type is in no role: `view`, `edit` and `admin` learn of it only by aggregation. A subresource such as "
            "`colis/scale` is a resource of its own."
        ),
        worded(
            "Let a role name what the message names: verb, resource, API group. `crd/07-roles.yaml` does it with "
            "labels that aggregate it into `view` and `edit`. `kubectl auth can-i VERB RESOURCE --as=USER` asks "
            "beforehand."
        ),
        asked=_COMMAND,
    ),
    Message(
        "message-terminating",
        "request",
        ("create not allowed while custom resource definition is terminating",),
        ("cost/create-refused",),
        worded(
            "The definition is being deleted and waits until its objects are gone, one of which has a finalizer. Until "
            "then objects can be read, changed and deleted, and no new one made."
        ),
        worded(
            "Find the object that is waited for (`kubectl get TYPE -A`), and let whoever set its finalizer do its "
            "work. Then apply the definition anew: a deletion cannot be taken back."
        ),
        Given(_V1, _MINI, {"apiVersion": "cours.example.com/v1"}),
        asked=worded("The playground knows no deletion under way: there this object is accepted."),
        played=False,
    ),
)

_NOT_THE_SERVER = worded("the typed class refuses it; the server is not asked")

NOT_COVERED: Mapping[str, str] = {
    "typed-resources/misspelt": _NOT_THE_SERVER,
    "typed-resources/edit-refused": _NOT_THE_SERVER,
    "typed-resources/invalide-here": _NOT_THE_SERVER,
}
"""Refused steps that show no message of the server, and why."""
