"""The chapter's type, written as classes: every step of its definition, as the files in crd/ have it."""

from __future__ import annotations

from typing import Any

from labkit.resources import APIObject, Int, List, Object, Resource, Str, Struct, Time, cel, column

SEMVER = r"^[0-9]+\.[0-9]+\.[0-9]+$"
NO_WAY_BACK = cel(
    "!has(oldSelf.version) || semver(self.version).compareTo(semver(oldSelf.version)) >= 0",
    message="pas de retour à une version antérieure",
)
NO_SHRINKING = cel("quantity(self).compareTo(quantity(oldSelf)) >= 0", message="un volume ne rétrécit pas")
ORDERED = cel("self.min <= self.max", message_expression="'min (%d) dépasse max (%d)'.format([self.min, self.max])")
GROUP: dict[str, Any] = {"group": "cours.example.com", "plural": "colis", "kind": "Colis"}
SHOWN: dict[str, Any] = {
    **GROUP,
    "description": "Une installation de l'application Colis.",
    "short_names": ["cl"],
    "categories": ["cours"],
    "subresources": {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.api.replicas",
            "statusReplicasPath": ".status.api.replicas",
            "labelSelectorPath": ".status.selecteur",
        },
    },
    "columns": [
        column("Version", ".spec.version"),
        column("API", ".spec.api.replicas", "integer"),
        column("Prête", '.status.conditions[?(@.type=="Prete")].status'),
        column("Age", ".metadata.creationTimestamp", "date"),
    ],
}


def spec_class(  # noqa: PLR0913  (what changes from file to file)
    *,
    rules: list[dict[str, Any]] = [],  # noqa: B006  (never changed)
    worker_rules: list[dict[str, Any]] = [],  # noqa: B006
    worker_default: dict[str, Any] | None = None,
    volume_rules: list[dict[str, Any]] = [],  # noqa: B006
    longest: bool = False,
    more: dict[str, Any] | None = None,
) -> type[Resource]:
    """One state of ``spec``; *longest* puts a maxLength on every string."""

    class Worker(Resource, rules=worker_rules):
        min = Int(minimum=0, default=0)
        max = Int(minimum=1, maximum=20, default=5)

    taille: dict[str, Any] = {"rules": volume_rules} if volume_rules else {}

    def length(most: int) -> dict[str, Any]:
        return {"max_length": most} if longest else {}

    body: dict[str, Any] = {
        "version": Str(
            required=True, pattern=SEMVER, description="Version de l'image de l'API et du worker.", **length(32)
        ),
        "api": Struct({"replicas": Int(minimum=1, maximum=10, default=2)}, default={}),
        "worker": Object(Worker, default=worker_default or {}),
        "base": Struct(
            {
                "taille": Str(pattern="^[0-9]+(Mi|Gi)$", default="1Gi", **taille, **length(16)),
                "classe": Str(enum=["standard", "csi-hostpath-sc"], default="standard", **length(32)),
            },
            default={},
        ),
        **(more or {}),
    }
    return type(Resource)("Spec", (Resource,), _body(body), rules=rules)  # type: ignore[arg-type,return-value]


def _body(fields: dict[str, Any]) -> Any:
    body = type(Resource).__prepare__("Spec", (Resource,))
    for key, field in fields.items():
        body[key] = field
    body["__module__"] = __name__
    body["__qualname__"] = "Spec"
    return body


WEB = {"web": Struct({"replicas": Int(minimum=1, maximum=10, default=2)}, default={})}
KEPT = {"min": 0, "max": 5}
RULES: dict[str, Any] = {"rules": [NO_WAY_BACK], "worker_rules": [ORDERED], "volume_rules": [NO_SHRINKING]}
STATUS = Struct(
    {
        "observedGeneration": Int(
            description="metadata.generation de la dernière demande que le contrôleur a traitée."
        ),
        "selecteur": Str(description="Sélecteur d'étiquettes des Pods de l'API, pour la sous-ressource scale."),
        "api": {"replicas": Int},
        "conditions": List(
            Struct(
                {
                    "type": Str(required="schema"),
                    "status": Str(required="schema", enum=["True", "False", "Unknown"]),
                    "reason": Str,
                    "message": Str,
                    "lastTransitionTime": Time,
                }
            ),
            list_type="map",
            list_map_keys=["type"],
        ),
    }
)


def kind_class(version: str, spec: Any, *, status: Any = None, **facts: Any) -> type[APIObject]:
    body = type(APIObject).__prepare__("Colis", (APIObject,))
    body["spec"] = spec
    if status is not None:
        body["status"] = status
    body["__module__"] = __name__
    body["__qualname__"] = "Colis"
    return type(APIObject)("Colis", (APIObject,), body, version=version, **facts)  # type: ignore[return-value]
