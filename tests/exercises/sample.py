"""A whole exercise of the tests' own, small: workers limited by the API's replicas, and a role."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labkit.exercises import model
from labkit.exercises.model import Exercise
from labkit.exercises.report import Finding, Report

REPOSITORY = Path(__file__).resolve().parents[2]

TOML = """
id = "limit"
title = "A limit on workers"
definition = "crd/06-colis-v1-seul.yaml"
answer = "yaml"
secrets = ["4 * self.api.replicas"]

[[tasks]]
id = "refuses"
title = "Too many workers are refused"
points = 2

[[tasks]]
id = "accepts"
title = "Others are not"
points = 1
starter_passes = "the definition without the rule takes every object"
"""

PROMPT = "# A limit on workers\n\nNo more than four workers for each replica of the API.\n"
HINTS = """# Hints

## refuses
- A rule sees only what lies below the place where it stands.
- What holds both numbers?
  Put it there.

## accepts
- Try an object with few workers.
"""
OBJECT = """
    apiVersion: cours.example.com/v1
    kind: Colis
    metadata: {name: NAME}
    spec: {version: 3.0.0, api: {replicas: API}, worker: {max: MAX}}
"""


def _object(name: str, api: int, workers: int) -> str:
    return OBJECT.replace("NAME", name).replace("API", str(api)).replace("MAX", str(workers))


REFUSES = f"""
- do: create
  task: refuses
  name: five workers and one replica
  object:{_object("e", 1, 5)}
  expect: refused
  field: [spec, ""]
  by: cel
  otherwise: "Add a rule where both numbers can be seen; the server said: {{got}}"
- do: create
  name: eight workers and two replicas
  task: accepts
  object:{_object("f", 2, 8)}
  shows: {{spec.base.taille: 1Gi, spec.base.rien: null}}
  otherwise: Four for each replica are allowed.
- do: scale
  task: refuses
  name: kubectl scale down to one replica
  target: cours.example.com/v1/colis/f
  replicas: 1
  expect: refused
  by: cel
  otherwise: The object after scale is judged like any other.
"""
HIDDEN = f"""
- do: create
  task: refuses
  name: seventeen workers and four replicas
  object:{_object("g", 4, 17)}
  expect: refused
  by: cel
  otherwise: Four for each replica.
"""
RULE = """              x-kubernetes-validations:
                - rule: self.worker.max <= 4 * self.api.replicas
"""
ANCHOR = '              x-kubernetes-validations:\n                - rule: "!has(oldSelf'


def starter() -> str:
    return (REPOSITORY / "crd/06-colis-v1-seul.yaml").read_text(encoding="utf-8")


def with_rule(rule: str) -> str:
    assert ANCHOR in starter()
    head, _, tail = ANCHOR.partition("\n")
    return starter().replace(ANCHOR, f"{head}\n                - rule: {rule}\n{tail}", 1)


def solution() -> str:
    return with_rule("self.worker.max <= 4 * self.api.replicas")


def make(root: Path, *, slug: str = "01-limit", files: Mapping[str, str | None] | None = None) -> Path:
    """The exercise's folder below *root*, which gets ``crd/``; *files* replace its texts by name (None: left out)."""
    if not (root / "crd").exists():
        shutil.copytree(REPOSITORY / "crd", root / "crd")
    folder = root / "exercises" / slug
    texts: dict[str, str | None] = {
        "exercise.toml": TOML,
        "prompt.md": PROMPT,
        "hints.md": HINTS,
        "starter.yaml": starter(),
        "solution.yaml": solution(),
        "solution.md": "The rule stands on spec, which holds both numbers.\n",
        "probes/1-rule.yaml": REFUSES,
        "hidden/1-more.yaml": HIDDEN,
        "right/other-way-round.yaml": with_rule('"!(self.worker.max > self.api.replicas * 4)"'),
    }
    texts["wrong/five.yaml"] = "# fails: refuses: five workers\n" + with_rule(
        "self.worker.max <= 5 * self.api.replicas"
    )
    for name, text in (texts | dict(files or {})).items():
        path = folder / name
        if text is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


BEGIN = '{definition = "crd/06-colis-v1-seul.yaml", objects = [{file = "crd/objects/principal.yaml", version = "v1"}]}'


def one_task(root: Path, probes: str, **keys: Any) -> Exercise:
    """An exercise with one task, "it", and these probes."""
    answer = keys.pop("answer", "yaml")
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    toml = f'id = "mine"\ntitle = "Mine"\nanswer = "{answer}"\n{lines}'
    toml += '[[tasks]]\nid = "it"\ntitle = "It"\npoints = 1\n'
    texts: dict[str, str | None] = {
        "exercise.toml": toml,
        "hints.md": "## it\n- Try.\n",
        f"starter.{answer}": "",
        f"solution.{answer}": "",
        "probes/1-rule.yaml": probes,
        "hidden/1-more.yaml": None,
        "right/other-way-round.yaml": None,
        "wrong/five.yaml": None,
    }
    return model.load(make(root, slug="02-mine", files=texts))


def findings(report: Report, task: str = "it") -> tuple[Finding, ...]:
    return next(one.findings for one in report.tasks if one.task == task)
