"""Executed notebooks in a language: what the pages are made from.

The English ones lie in the repository with what they printed, and the tests hold that to a server each time. Those of
another language are made from the catalogues and have printed nothing yet: they are run on a cluster of their own, and
kept with everything that they were made from, so that this is done once. A server knows no languages, so what kubectl
and etcd print must be what stands in the English notebook; an edition in which it is not is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import labkit
from labkit.cluster import Owner, places
from labkit.cluster.embedded import EmbeddedCluster
from labkit.course import digests
from labkit.course.notebook import SECTIONS
from labkit.course.outputs import comparable
from labkit.course.record import record
from labkit.errors import CourseError
from labkit.exercises.editions import files_in

__all__ = ["differing", "executed"]

_SERVERS_WORDS = ("%kubectl", "%%kubectl", "%etcd", "%%etcd")
_STREAMS = ("stdout", "stderr")
_NOT_RUN = ("site", "grading", "release", "machine")
"""Rooms that no notebook runs."""


def executed(root: Path, lang: str, work: Path, *, say: Callable[[str], None]) -> Path:
    """The folder with the executed notebooks of the course at *root* in *lang*; those that are run are kept in *work*.

    Raises CourseError when a step ends otherwise than in English, NotebookError when it does not end, and what starting
    a cluster raises; what was kept stays.
    """
    if lang == "en":
        return root / "notebooks"
    files = dict(files_in(lang, root))
    digest = _digest(files)
    place = work / f"notebooks-{lang}"
    stamp = place / "made-from"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return place / "notebooks"
    new = work / f".notebooks-{lang}-{os.getpid()}"
    try:
        for name, content in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _run(root, lang, new / "notebooks", say)
        (new / stamp.name).write_text(digest, encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return place / "notebooks"


def differing(english: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """The cells, by id, in which kubectl or etcd printed something else in *other* than in *english* (both run)."""
    for one, same in zip(english["cells"], other["cells"], strict=True):
        if one["cell_type"] == "code" and "".join(one["source"]).startswith(_SERVERS_WORDS):
            printed, again = comparable(one["outputs"]), comparable(same["outputs"])
            if any(printed.get(stream) != again.get(stream) for stream in _STREAMS):
                yield one["id"]


def _run(root: Path, lang: str, folder: Path, say: Callable[[str], None]) -> None:
    cluster = EmbeddedCluster(places.held(), owner=Owner.HELD)
    try:
        say(f"{lang}: a cluster is started")
        cluster.start()
        for name in SECTIONS.values():
            say(f"{lang}: {name} is run")
            record(folder / name, cluster)
            english, made = (json.loads((one / name).read_text("utf-8")) for one in (root / "notebooks", folder))
            cells = list(differing(english, made))
            if cells:
                raise CourseError(
                    f"{name} in {lang!r} does not print what it does in English",
                    evidence=f"cells {', '.join(cells)}",
                    next_act="code must be the same in both: labkit languages check, and make record if English is old",
                )
    finally:
        cluster.stop()


def _digest(files: Mapping[str, bytes]) -> str:
    """Of all that a run depends on: the edition, the rooms of labkit that it runs, the programs."""
    digest = hashlib.sha256()
    package = Path(labkit.__file__).parent
    ours = ((name, text) for name, text in digests.files_below(package, package) if name.split("/")[0] not in _NOT_RUN)
    digests.add_files(digest, (*sorted(files.items()), *ours))
    digests.add_programs(digest)
    return digest.hexdigest()
