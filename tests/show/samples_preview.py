"""A change of a definition with each fate that an object can have, for views that must not need a control plane."""

from __future__ import annotations

from typing import Any

from labkit.trace.forecast import Forecast
from labkit.trace.preview import Fate, Preview, Retirement
from labkit.trace.values import Definition, Version

__all__ = ["PREVIEW"]

SIZE = "Unsupported value: 9: supported values: 1, 2"


def complaint(line: str, field: str = "", rule: str = "", *, forgiven: bool = False) -> dict[str, Any]:
    return {"line": line, "field": field, "type": "", "detail": "", "rule": rule, "forgiven": forgiven}


def met(verdict: str, **facts: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {"reason": "", "lines": [], "complaints": [], "pruned": [], "defaulted": []}
    return {"verdict": verdict, **nothing, **facts}


def shown(verdict: str = "accepted", **facts: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {"reason": "", "lines": [], "pruned": [], "nulls": [], "defaulted": []}
    return {"verdict": verdict, **nothing, **facts}


def forecast(name: str, version: str | None, *facts: dict[str, Any]) -> Forecast:
    read, write, anew = facts
    raw = {"namespace": "ch54", "name": name, "storedVersion": version}
    return Forecast.from_answer({**raw, "nextRead": read, "nextWrite": write, "createdAnew": anew}, f"{name}.yaml")


FATES = (
    Fate(
        1,
        ("ch54/parti",),
        forecast(
            "parti",
            "v0",
            shown("refused", lines=["request to convert CR from an invalid group/version: cours.example.com/v0"]),
            met("refused", lines=["request to convert CR from an invalid group/version: cours.example.com/v0"]),
            met("unknown", reason="it cannot be read"),
        ),
    ),
    Fate(
        1200,
        ("ch54/a", "ch54/b", "ch54/c"),
        forecast(
            "a",
            "v1alpha1",
            shown(pruned=["spec.<vieux>"], nulls=["spec.rien"], defaulted=[{"path": "spec.web", "value": {"n": 2}}]),
            met("accepted", pruned=["spec.seul"], defaulted=[{"path": "spec.api", "value": 1}]),
            met("accepted"),
        ),
    ),
    Fate(
        2,
        ("ch54/d", "ch54/e"),
        forecast(
            "d",
            "v1",
            shown(),
            met("forgiven", complaints=[complaint(f"spec.taille: {SIZE}", "spec.taille", forgiven=True)]),
            met(
                "refused",
                lines=[f"spec.taille: {SIZE}", "spec: Invalid value: too many"],
                complaints=[
                    complaint(f"spec.taille: {SIZE}", "spec.taille"),
                    complaint("spec: Invalid value: too many", "spec", "self.a <= self.b"),
                ],
            ),
        ),
    ),
)

PREVIEW = Preview(
    definition=Definition(
        verdict="refused",
        status=None,
        lines=('status.storedVersions[0]: Invalid value: "v0": missing from spec.versions',),
        warnings=('unrecognized format "taille"',),
        name="colis.cours.example.com",
        group="cours.example.com",
        kind="Colis",
        plural="colis",
        scope="Namespaced",
        versions=(
            Version("v1alpha1", served=True, storage=False, deprecated=True),
            Version("v1", served=True, storage=True, deprecated=False),
            Version("v2", served=False, storage=False, deprecated=False),
        ),
        stored_versions=("v0", "v1"),
        conversion="None",
    ),
    replaces=True,
    version="v1",
    unseen="",
    total=1203,
    fates=FATES,
    versions=(
        Retirement("v1alpha1", defined=True, served=True, storage=False, objects=0, listed=False, obstacles=()),
        Retirement(
            "v1",
            defined=True,
            served=True,
            storage=True,
            objects=1202,
            listed=True,
            obstacles=("new writes are stored in it", "1,202 objects are stored in it"),
        ),
        Retirement("v2", defined=True, served=False, storage=False, objects=None, listed=None, obstacles=()),
        Retirement(
            "v0",
            defined=False,
            served=False,
            storage=False,
            objects=1,
            listed=True,
            obstacles=("1 object is stored in it",),
        ),
    ),
)
