"""Typed objects: built, checked and written as JSON, against pydantic doing the same and against ``json.dumps`` alone.

Seconds are processor seconds. All three take turns on the same documents, and a ratio is of one turn, so that what else
the machine does falls on all alike. Sizes are the course's ``principal``, and the same with a status.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from labkit.resources import APIObject, Int, List, Object, Resource, Str, Struct, Time
from labkit.show.bench import Figure

__all__ = ["COUNT", "Colis", "documents", "figures"]

COUNT = 10_000
TURNS = 7


class Worker(Resource):
    min = Int(minimum=0, default=0)
    max = Int(minimum=1, maximum=20, default=5)


class Colis(APIObject, group="cours.example.com", version="v1", plural="colis"):
    spec = Struct(
        {
            "version": Str(required=True, pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$"),
            "api": {"replicas": Int(minimum=1, maximum=10, default=2)},
            "worker": Object(Worker),
            "base": {"taille": Str(pattern="^[0-9]+(Mi|Gi)$"), "classe": Str(enum=["standard", "csi-hostpath-sc"])},
            "web": {"replicas": Int(minimum=1, maximum=10, default=2)},
        },
        required=True,
    )
    status = Struct(
        {
            "observedGeneration": Int,
            "selecteur": Str,
            "api": {"replicas": Int},
            "conditions": List(
                {
                    "type": Str(required=True),
                    "status": Str(required=True, enum=["True", "False", "Unknown"]),
                    "reason": Str,
                    "message": Str,
                    "lastTransitionTime": Time,
                }
            ),
        }
    )


def documents(count: int, *, status: bool) -> list[dict[str, Any]]:
    """*count* documents of their own, as a server would send them."""
    return [json.loads(json.dumps(_document(number, status=status))) for number in range(count)]


def _document(number: int, *, status: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "apiVersion": "cours.example.com/v1",
        "kind": "Colis",
        "metadata": {"name": f"colis-{number}", "namespace": "ch54", "labels": {"app": "colis"}},
        "spec": {
            "version": "2.2.1",
            "api": {"replicas": 2},
            "worker": {"min": 0, "max": 5},
            "base": {"taille": "1Gi", "classe": "standard"},
        },
    }
    if status:
        document["spec"]["web"] = {"replicas": 3}
        ready = {"type": "Prete", "status": "True", "reason": "Demarre", "message": "tout va bien"}
        document["status"] = {
            "observedGeneration": 3,
            "selecteur": "app=colis",
            "api": {"replicas": 2},
            "conditions": [
                {**ready, "lastTransitionTime": "2026-01-15T10:30:45Z"},
                {**ready, "type": "Disponible", "lastTransitionTime": "2026-01-15T10:30:46Z"},
            ],
        }
    return document


def figures(*, turns: int = TURNS, count: int = COUNT) -> list[Figure]:
    """Time, memory and edits. Needs pydantic (the extra "bench")."""
    from labkit.machine.bench.pydantic_colis import PydanticColis

    found = []
    for what, status in (("as the course's principal", False), ("with a status", True)):
        given = documents(count, status=status)
        name = f"{count:,} Colis {what}"
        samples = _in_turns(given, turns)
        ours, pydantics, plain = samples
        found += [
            Figure.of(f"{name}: built, validated and written as JSON", ours, "s"),
            Figure.of("… against pydantic", _ratios(ours, pydantics), "×", 1.0),
            Figure.of("… against json.dumps of the plain documents", _ratios(ours, plain), "×"),
            Figure("… memory an object", _bytes_each(Colis.from_dict, given), "B"),
            Figure("… memory an object of pydantic", _bytes_each(PydanticColis.model_validate, given), "B"),
        ]
    found.append(Figure.of("spec_set on a typed path (worker.max)", [_edits(count) for _ in range(turns)], "/s"))
    return found


def _in_turns(given: list[dict[str, Any]], turns: int) -> tuple[list[float], list[float], list[float]]:
    from labkit.machine.bench.pydantic_colis import PydanticColis

    def ours() -> None:
        for document in given:
            Colis.from_dict(document).to_json()

    def pydantics() -> None:
        for document in given:
            PydanticColis.model_validate(document).model_dump_json(exclude_unset=True)

    def plain() -> None:
        for document in given:
            json.dumps(document)

    samples: tuple[list[float], list[float], list[float]] = ([], [], [])
    for _ in range(turns):
        for sample, act in zip(samples, (ours, pydantics, plain), strict=True):
            sample.append(_seconds(act))
    return samples


def _seconds(act: Callable[[], None]) -> float:
    gc.collect()
    begun = time.process_time()
    act()
    return time.process_time() - begun


def _ratios(ours: list[float], others: list[float]) -> list[float]:
    return [one / other for one, other in zip(ours, others, strict=True)]


def _bytes_each(build: Callable[[dict[str, Any]], Any], given: list[dict[str, Any]]) -> float:
    """What an object needs beside the document it was built from, whose texts it shares."""
    build(given[0])
    tracemalloc.start()
    try:
        held = [build(document) for document in given]
        return tracemalloc.get_traced_memory()[0] / len(held)
    finally:
        tracemalloc.stop()


def _edits(count: int) -> float:
    """Edits a second."""
    colis = Colis.from_dict(_document(0, status=False))

    def edit() -> None:
        for number in range(count):
            colis.spec_set("worker.max", 1 + number % 20)

    return count / _seconds(edit)
