"""The built-in kinds as Python source, written from what a control plane publishes: ``make kinds``.

    python -m labkit.machine.generate_k8s            writes labkit/resources/k8s/
    python -m labkit.machine.generate_k8s --check    says what is stale there, and changes nothing

A class read at run time cannot be completed by an editor or checked by mypy, so the kinds a course meets are source. It
is written from the very classes that ``from_openapi`` makes: this module only prints them. ObjectMeta and the types of
apiextensions are written by hand, because labkit.resources itself stands on them and says more of them than the server
publishes (which nulls count); ``twin_differences`` compares those with the server's.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit.cluster import Api, Owner
from labkit.cluster.embedded import EmbeddedCluster
from labkit.errors import LabkitError, MachineError
from labkit.machine.checkout import Checkout
from labkit.resources import apiextensions, meta
from labkit.resources.containers import List, Map, Object
from labkit.resources.field import Field
from labkit.resources.openapi import META, UNIONS, Reader
from labkit.resources.state import state_of

__all__ = ["KINDS", "documents", "main", "sources", "stale", "twin_differences"]

KINDS: Mapping[str, tuple[str, ...]] = {
    "v1": ("ConfigMap", "Namespace", "Pod", "Secret", "ServiceAccount"),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
}
"""What is written, with all it refers to, by group and version."""

TWINS = "apiextensions.k8s.io/v1"
PLACES: Mapping[str, str] = {META: "meta", "io.k8s.api.core.v1.": "core", "io.k8s.api.rbac.v1.": "rbac"}
"""Where a type belongs, by the beginning of its name; the first word of its short name, and of its module."""

_MARK = '"""Generated from Kubernetes {version} by ``make kinds``; not to be edited.'
_VERSION = re.compile(r"Generated from Kubernetes (\S+) by")
_NOQA = "# ruff: noqa: N815  (fields carry the API's own names)\n"


def documents(api: Api) -> dict[str, dict[str, Any]]:
    """The OpenAPI v3 documents that are needed, by group and version. Raises ApiError for one that is not there."""
    found = {}
    for api_version in (*KINDS, TWINS):
        path = f"/openapi/v3/{'apis' if '/' in api_version else 'api'}/{api_version}"
        document = api.get(path)
        if document is None:
            raise MachineError(f"the control plane publishes no {path}")
        found[api_version] = document
    return found


def sources(docs: Mapping[str, Mapping[str, Any]], version: str) -> dict[str, str]:
    """File name → source, formatted, of every module in labkit/resources/k8s. Raises MachineError without ruff."""
    reader = Reader(_together([docs[api_version] for api_version in KINDS]))  # types in more than one are the same
    for api_version, kinds in KINDS.items():
        for kind in kinds:
            reader.kind(api_version, kind)
    types = reader.made
    modules: dict[str, list[str]] = {word: [] for word in PLACES.values()}
    for name in sorted(types):
        modules[_place(name)].append(name)
    written = {f"{word}_v1.py": _module(word, names, types) for word, names in modules.items()}
    written["__init__.py"] = _package({word: [_short(name) for name in names] for word, names in modules.items()})
    return {name: _formatted(text.replace("{version}", version)) for name, text in written.items()}


def stale(docs: Mapping[str, Mapping[str, Any]], folder: Path) -> dict[str, str]:
    """File name → why it is not what the control plane would have written now; empty if nothing is stale.

    The version in the first line does not count: another patch release with the same types makes nothing stale.
    """
    found = {}
    wanted = sources(docs, "-")
    for name, text in wanted.items():
        path = folder / name
        there = _VERSION.sub("Generated from Kubernetes - by", path.read_text("utf-8")) if path.exists() else ""
        if there != text:
            found[name] = "differs from what the control plane publishes" if there else "is not there"
    for path in sorted(folder.glob("*.py")):
        if path.name not in wanted:
            found[path.name] = "is not generated any more"
    return found


def _together(docs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    schemas = {name: schema for doc in docs for name, schema in doc["components"]["schemas"].items()}
    paths = {path: served for doc in docs for path, served in doc["paths"].items()}
    return {"components": {"schemas": schemas}, "paths": paths}


def twin_differences(docs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Where the classes of labkit.resources.meta and .apiextensions say other things than the server; empty if nowhere.

    Compared are the types, their fields, the type of each field and whether the schema requires it. Not compared are
    options that the server does not publish (null as a value) or that only its own schema needs (formats, list types).
    """
    reader = Reader(docs[TWINS], UNIONS)
    reader.kind(TWINS, "CustomResourceDefinition")
    reader.part(f"{META}ObjectMeta")
    found = []
    for name, published in sorted(reader.made.items()):
        module = meta if name.startswith(META) else apiextensions
        ours = getattr(module, _short(name), None)
        if ours is None:
            found.append(f"{module.__name__} has no {_short(name)}")
            continue
        said, wanted = _facts(ours), _facts(published)
        different = [key for key in sorted(said.keys() | wanted.keys()) if said.get(key) != wanted.get(key)]
        found += [f"{_short(name)}.{key} is {said.get(key)}; the server says {wanted.get(key)}" for key in different]
    return found


def _facts(cls: type[Any]) -> dict[str, str]:
    own = state_of(cls).own
    return {key: f"{one.expression}{', required' if one.listed else ''}" for key, one in own.items()}


def _place(name: str) -> str:
    for beginning, word in PLACES.items():
        if name.startswith(beginning):
            return word
    raise MachineError(f"no module for {name}", next_act="give its beginning a place in labkit/machine/generate_k8s.py")


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _module(word: str, names: Sequence[str], types: Mapping[str, type[Any]]) -> str:
    ours = {types[name] for name in names}
    ordered = list(_after_what_they_need([types[name] for name in names], ours))
    imports: dict[str, set[str]] = {}
    homes = {types[name]: f"labkit.resources.k8s.{_place(name)}_v1" for name in types}
    used = {"Resource"}
    for cls in ordered:
        used |= {"APIObject"} if state_of(cls).fact("fixed") else set()
        for plan in _plans(cls):
            used.add(type(plan).__name__)
            if isinstance(plan, Object) and plan.target not in ours:
                imports.setdefault(homes.get(plan.target, plan.target.__module__), set()).add(plan.target.__name__)
    lines = [_MARK, "", f"The types of {word}/v1; ``kubectl explain`` has their prose.", '"""', "", _NOQA]
    lines += ["from __future__ import annotations", "", f"from labkit.resources import {', '.join(sorted(used))}"]
    lines += [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(imports.items())]
    lines += ["", f"__all__ = {sorted(_short(name) for name in names)!r}", ""]
    by_class = {cls: name for name, cls in types.items()}
    for position, cls in enumerate(ordered):
        lines += ["", "", *_class(cls, by_class[cls], set(ordered[:position]) | (set(types.values()) - ours))]
    return "\n".join(lines) + "\n"


def _after_what_they_need(classes: Sequence[type[Any]], ours: set[type[Any]]) -> Iterator[type[Any]]:
    """*classes*, each after those of *ours* that its fields hold, where no circle forbids it."""
    begun: set[type[Any]] = set()

    def walk(cls: type[Any]) -> Iterator[type[Any]]:
        if cls in begun:
            return
        begun.add(cls)
        for plan in _plans(cls):
            if isinstance(plan, Object) and plan.target in ours:
                yield from walk(plan.target)
        yield cls

    for cls in classes:
        yield from walk(cls)


def _plans(cls: type[Any]) -> Iterator[Field[Any, Any]]:
    """The plans of the fields, and of the elements in them."""
    for bound in state_of(cls).own.values():
        plan = bound.plan
        while True:
            yield plan
            if not isinstance(plan, (List, Map)):
                break
            plan = plan.item_plan


def _class(cls: type[Any], name: str, written: set[type[Any]]) -> list[str]:
    state = state_of(cls)
    is_kind = bool(state.fact("fixed"))
    facts = [f"{key}={value!r}" for key, value in state.facts.items() if value and key != "kind"]
    facts = [fact for fact in facts if fact != "scope='Namespaced'"]
    bases = ", ".join(["APIObject" if is_kind else "Resource", *facts, "lenient=True"])
    lines = [f"class {cls.__name__}({bases}):", f'    """The API\'s type {name}."""', ""]
    for key, bound in state.own.items():
        own_key = {} if bound.attribute == key else {"key": key}
        lines.append(f"    {bound.attribute} = {_written(bound.plan, written, own_key)}")
    return lines


def _written(plan: Field[Any, Any], written: set[type[Any]], more: Mapping[str, Any]) -> str:
    """A plan as one would write it."""
    words = []
    if isinstance(plan, (List, Map)):
        item = _written(plan.item_plan, written, {})
        words.append(item.removesuffix("()"))
    elif isinstance(plan, Object):
        target = plan.target
        local = target.__module__ == "labkit.resources.openapi" and target not in written
        words.append(repr(target.__name__) if local else target.__name__)
    options = {**plan.options, **more}
    words += [f"{key}={options[key]!r}" for key in sorted(options, key=lambda key: (key != "required", key))]
    return f"{type(plan).__name__}({', '.join(words)})"


def _package(modules: Mapping[str, Sequence[str]]) -> str:
    names = [name for found in modules.values() for name in found]
    by_hand = {"apiextensions": apiextensions.__all__, "meta": meta.__all__}
    names += [name for found in by_hand.values() for name in found]
    names += [cls.__name__ for cls in UNIONS.values()]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise MachineError(f"two types are called {', '.join(sorted(twice))}")
    lines = [_MARK, "", "The built-in kinds, and the types they are made of, as classes. Loaded only when asked for:"]
    lines += ["", "    from labkit.resources.k8s import Pod, Role", '"""', "", "from __future__ import annotations", ""]
    lines += ["from typing import Any", "", "from labkit.resources import apiextensions, meta"]
    lines.append(f"from labkit.resources.k8s import {', '.join(f'{word}_v1' for word in sorted(modules))}")
    homes: dict[str, Sequence[str]] = {f"labkit.resources.{word}": found for word, found in by_hand.items()}
    homes |= {f"labkit.resources.k8s.{word}_v1": found for word, found in modules.items()}
    lines += [f"from {home} import {', '.join(sorted(found))}" for home, found in sorted(homes.items())]
    lines.append("from labkit.resources.openapi import UNIONS")
    lines.append(f"from labkit.resources.unions import {', '.join(sorted(cls.__name__ for cls in UNIONS.values()))}")
    lines += ["", f"__all__ = {['NAMES', *sorted(names)]!r}", "", "NAMES: dict[str, type[Any]] = {"]
    for word, module in sorted([*((word, f"{word}_v1") for word in modules), *((word, word) for word in by_hand)]):
        lines.append(f'    **{{f"{word}/v1/{{name}}": getattr({module}, name) for name in {module}.__all__}},')
    lines.append('    **{f"apiextensions/v1/{name.rpartition(".")[2]}": union for name, union in UNIONS.items()},')
    lines += ["}", '"""Short name → class (``core/v1/PodSpec``), as a field may name its type."""']
    return "\n".join(lines) + "\n"


def _formatted(text: str) -> str:
    ruff = Checkout.here().venv_bin / "ruff"
    root = Checkout.here().root
    sort = ["check", "--select", "I,RUF022", "--fix-only", "--config", 'lint.isort.known-first-party=["labkit"]']
    for argv in (sort, ["format"]):
        command = [str(ruff), *argv, "--quiet", "--stdin-filename", "labkit/resources/k8s/generated.py", "-"]
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=root, check=True)
        except (OSError, subprocess.CalledProcessError) as cause:
            evidence = getattr(cause, "stderr", "") or str(cause)
            raise MachineError("ruff could not format what was generated", evidence=evidence.strip()) from cause
        text = done.stdout
    return text


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when the classes are written, or, with --check, when nothing is stale."""
    parser = argparse.ArgumentParser(prog="python -m labkit.machine.generate_k8s")
    parser.add_argument("--check", action="store_true", help="say what is stale, and change nothing")
    options = parser.parse_args(argv)
    folder = Checkout.here().root / "labkit" / "resources" / "k8s"
    try:
        docs, version = _ask()
        differences = twin_differences(docs)
        outdated = stale(docs, folder)
        if not options.check:
            folder.mkdir(exist_ok=True)
            for name, text in sources(docs, version).items():
                (folder / name).write_text(text, encoding="utf-8")
    except LabkitError as error:
        print(f"generate_k8s: {error}", file=sys.stderr)
        return 1
    for difference in differences:
        print(f"by hand, and different: {difference}")
    for name, why in outdated.items():
        print(f"{name} {why}" if options.check else f"{name} is written, for Kubernetes {version}")
    return int(bool(differences or (options.check and outdated)))


def _ask() -> tuple[dict[str, dict[str, Any]], str]:
    """The documents, and the version, of a control plane that is started for it."""
    with tempfile.TemporaryDirectory(prefix="labkit-kinds-") as place:
        cluster = EmbeddedCluster(Path(place) / "state", owner=Owner.HELD)
        cluster.start()
        try:
            with Api(cluster) as api:
                return documents(api), api.version()
        finally:
            cluster.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
