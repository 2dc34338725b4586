"""The course's own manifests as texts, for requests."""

from __future__ import annotations

from pathlib import Path

CRD = Path(__file__).parents[2] / "crd"


def text(name: str) -> str:
    """The text of ``crd/NAME``."""
    return (CRD / name).read_text(encoding="utf-8")


SCHEMA = text("02-colis-schema.yaml")
COMPLETE = text("04-colis-complet.yaml")
TWO_VERSIONS = text("05-colis-v1.yaml")
MINI = text("objects/mini.yaml")
INVALID = text("objects/invalide.yaml")
WRONG = text("objects/mauvais.yaml")
