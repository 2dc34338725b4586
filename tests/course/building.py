"""Small notebooks for tests, written as a course of their own beside the real manifests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit.course.notebook import SECTIONS

REPOSITORY = Path(__file__).parents[2]

Cell = dict[str, Any]


def prose(text: str, **labkit: Any) -> Cell:
    metadata = {"labkit": labkit} if labkit else {}
    return {"cell_type": "markdown", "metadata": metadata, "source": text}


def code(source: str, *, tags: Sequence[str] = (), outputs: Sequence[Mapping[str, Any]] = (), **labkit: Any) -> Cell:
    metadata: dict[str, Any] = {"labkit": labkit} if labkit else {}
    if tags:
        metadata["tags"] = list(tags)
    return {
        "cell_type": "code",
        "metadata": metadata,
        "source": source,
        "outputs": list(outputs),
        "execution_count": 1 if outputs else None,
    }


def printed(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def opening(section: str) -> list[Cell]:
    return [prose(f"# About {section}"), code(f'import labkit\nlab = labkit.begin("{section}")')]


def write(  # noqa: PLR0913  (the parts of a notebook)
    root: Path, section: str, cells: Sequence[Cell], *, begin: Any = None, labkit: Any = None, file: str = ""
) -> Path:
    """Write a notebook into the course at *root* (made on first use); its path. *labkit* replaces the metadata."""
    folder = root / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    if not (root / "crd").exists():
        (root / "crd").symlink_to(REPOSITORY / "crd")
    metadata = {"section": section, "begin": {} if begin is None else begin} if labkit is None else labkit
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": {"labkit": metadata}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / (file or SECTIONS[section])
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return path
