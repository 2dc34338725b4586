"""Outputs recorded into a notebook, in a form that changes only when what it says changes (``labkit record``).

A notebook saved by Jupyter differs from run to run: execution counts, times in the metadata, the order of messages,
uids and ages in the outputs. Here the file has one normal form, and an output whose sanitized form is what it was
keeps its old bytes. So a diff of a recorded notebook is always news.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labkit.cluster import Cluster
from labkit.course import notebook
from labkit.course.environment import kernel_environment
from labkit.course.kernel import CourseKernel
from labkit.course.notebook import Step
from labkit.course.outputs import comparable, merged
from labkit.course.player import lacking
from labkit.errors import CourseError, NotebookError

__all__ = ["WIDGET", "normalised", "record"]

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}
WIDGET = "application/vnd.jupyter.widget-view+json"
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9-_]+")


def record(
    path: Path,
    cluster: Cluster,
    *,
    progress: Callable[[str], None] = lambda _: None,
    kept: Callable[[Step, str], None] = lambda _step, _reason: None,
) -> bool:
    """Run every code cell of the notebook at *path* on *cluster* and write its outputs in place, normalised.

    A step that the cluster cannot show is not run and keeps what is recorded; *kept* hears of it and why. True when the
    file changed. Raises NotebookError, and leaves the file as it was, at the first cell that does not end, or ends with
    an exception without having the tag ``raises-exception``. A picture alone is never news (what is measured draws
    another each time): to renew one, delete the cell's output first.
    """
    course = notebook.load(path)
    before = path.read_text(encoding="utf-8")
    data = json.loads(before)
    steps = {step.index: step for step in course.steps}
    info = cluster.info()
    kernel = CourseKernel(cwd=path.parent, environ=kernel_environment(cluster))
    try:
        for index, cell in enumerate(data["cells"]):
            if index not in steps:
                continue
            missing = lacking(steps[index], info)
            if missing:
                kept(steps[index], missing)
                continue
            progress(steps[index].id)
            try:
                run = kernel.run(steps[index].source)
            except CourseError as error:
                raise NotebookError(f"{path}: step {steps[index].id} did not end", evidence=str(error)) from error
            if run.error and "raises-exception" not in cell.get("metadata", {}).get("tags", []):
                raise NotebookError(f"{path}: step {steps[index].id} ended with an exception", evidence=run.error)
            cell["outputs"] = _kept_or_new(cell, run.outputs)
    finally:
        kernel.stop()
    after = normalised(data, {index: step.id for index, step in steps.items()})
    if after == before:
        return False
    _write(path, after)
    return True


def normalised(data: Mapping[str, Any], step_ids: Mapping[int, str]) -> str:
    """The text of a notebook in the one normal form; *step_ids* maps a cell's index to its step."""
    cells, count = [], 0
    for index, cell in enumerate(data["cells"]):
        metadata = {key: value for key, value in cell["metadata"].items() if key in ("labkit", "tags") and value}
        name = step_ids.get(index, f"cell-{index + 1:02d}")
        one = {"cell_type": cell["cell_type"], "id": _NOT_IN_IDS.sub("-", name)[:64], "metadata": metadata}
        if cell["cell_type"] == "code":
            count += 1
            one["execution_count"] = count
            one["outputs"] = [_numbered(output, count) for output in merged(cell["outputs"])]
        one["source"] = _lines(cell["source"])
        cells.append(one)
    metadata = {"kernelspec": KERNELSPEC, "labkit": data["metadata"]["labkit"], "language_info": LANGUAGE}
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _kept_or_new(cell: Mapping[str, Any], outputs: tuple[dict[str, Any], ...]) -> list[Any]:
    """The recorded outputs while they say the same and look the same, else the new ones."""
    old, outputs = cell.get("outputs", []), tuple(map(_without_widget, outputs))
    same = comparable(old) == comparable(outputs) and _looks(old) == _looks(outputs)
    return list(old if same else outputs)


def _without_widget(output: dict[str, Any]) -> dict[str, Any]:
    """A widget lives in its kernel: recorded, it is a name of nothing, and hides the HTML that was recorded with it."""
    if WIDGET not in output.get("data", {}):
        return output
    return {**output, "data": {mime: value for mime, value in output["data"].items() if mime != WIDGET}}


def _looks(outputs: Any) -> list[tuple[list[str], list[str]]]:
    """Of each output what the sanitizer passes over: whether there is a picture, and the style sheet of its HTML."""
    found = []
    for output in merged(outputs):
        data = output.get("data", {})
        html = data.get("text/html", "")
        found.append((sorted(data), _STYLE.findall(html if isinstance(html, str) else "".join(html))))
    return found


def _numbered(output: Mapping[str, Any], count: int) -> dict[str, Any]:
    one = dict(output)
    if one["output_type"] == "stream":
        one["text"] = _lines(one["text"])
    if one["output_type"] == "execute_result":
        one["execution_count"] = count
    if "data" in one:
        one["data"] = {mime: _lines(v) if isinstance(v, str) else v for mime, v in one["data"].items()}
    return one


def _lines(source: str | list[str]) -> list[str]:
    whole = source if isinstance(source, str) else "".join(source)
    return whole.splitlines(keepends=True)


def _write(path: Path, content: str) -> None:
    """Replace the file whole: an interrupt never leaves half a notebook."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as part:
        part.write(content)
    try:
        Path(part.name).chmod(path.stat().st_mode)
        os.replace(part.name, path)  # noqa: PTH105  (Path.replace says less)
    except OSError:
        Path(part.name).unlink(missing_ok=True)
        raise
