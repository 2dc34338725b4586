"""The notebook front: ``lab = labkit.begin("cel")`` and everything a cell says after it.

A notebook must read like the chapter: real commands, their real answers, no plumbing. So ``begin`` finds or starts a
cluster, brings it to the beginning of the section, moves to the folder that holds ``crd/``, points plain ``!kubectl``
at the cluster, and registers ``%kubectl``, ``%%kubectl`` and ``%etcd``. What a command answers is printed, a refusal
too (it is the lesson, not an alarm), and stays at hand as a value in ``lab.last``.

This is the one module that changes ``os.environ`` and the working directory: a kernel is a process of its own.
Without IPython everything works but the magics.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.cluster import Cluster, Etcd, EtcdResult, Kubectl, KubectlResult, Owner, choose, claim, tools
from labkit.cluster.base import Progress
from labkit.cluster.kubectl import diagnose, environment, forget_discovery
from labkit.course import manifests, notebook
from labkit.course.begin import begin as begin_section
from labkit.errors import ManifestError
from labkit.languages import plural, translate
from labkit.show.keys import readable, some_fields

if TYPE_CHECKING:
    from labkit.cluster import ClusterInfo
    from labkit.cluster.claim import CourseName
    from labkit.exercises.desk import Desk
    from labkit.exercises.model import Hint
    from labkit.exercises.progress import Progress as Standings
    from labkit.exercises.report import Report
    from labkit.observe.cleanup import CleanUp
    from labkit.observe.cost import Cost
    from labkit.observe.definition import Definition
    from labkit.observe.discovery import Group
    from labkit.observe.fields import PrunedAndDefaulted
    from labkit.observe.load import Through
    from labkit.observe.migration import Migration
    from labkit.observe.prediction import Question, Score
    from labkit.observe.stored import StoredAndRead
    from labkit.show.progress import Bar, CellBar
    from labkit.trace import Source, Trace

__all__ = ["Lab", "begin", "resume"]

Given = str | Mapping[str, Any]
"""An object: the path of its file ("crd/…"), or the object itself."""

Stdin = str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None

COLIS = "colis.cours.example.com"
MIGRATION = "colis-vers-v1"

PATIENCE_S = 10.0
"""How long an observation waits before it prints what it is waiting for: never, on a cluster that behaves."""


def begin(section: str) -> Lab:
    """Bring the cluster to the beginning of *section*, prepare this process for its commands, and say so in one line.

    The cluster is the one ``LABKIT_CLUSTER`` names, else a running one, else an embedded one started here and kept
    for the kernel's parent. Raises LabkitError when it cannot be had.
    """
    root = _course()
    section_begin = notebook.find(section, _folders(root))[1]
    cluster = _claimed_cluster()
    begin_section(cluster, section_begin, root=root)
    return _lab(cluster, root, translate('at the beginning of "{section}"', section=section))


def resume() -> Lab:
    """Go on where a kernel was restarted: the cluster of ``begin`` with all that is on it, and the cells' commands."""
    root = _course()
    return _lab(_claimed_cluster(), root, translate("as you left it"))


def _course() -> Path:
    """The folder that holds ``crd/``; this process speaks the language of the notebooks, unless it is told another."""
    root = notebook.find_root(Path.cwd())
    if not os.environ.get("LABKIT_LANG"):
        os.environ["LABKIT_LANG"] = notebook.language_of(_folders(root))
    return root


def _folders(root: Path) -> list[Path]:
    return [Path.cwd(), root / "notebooks", root]


def _claimed_cluster() -> Cluster:
    named = os.environ.get("LABKIT_CLUSTER")
    progress = _patient() if named else _say
    cluster = choose.attach_or_start(choose.resolve(named), owner=Owner.LEASED, progress=progress)
    claim.claim(cluster, yes=os.environ.get("LABKIT_CLAIM") == "1")
    return cluster


def _lab(cluster: Cluster, root: Path, state: str) -> Lab:
    _prepare_process(cluster, root)
    info = cluster.info()
    lab = Lab(cluster, info, root, claimed=claim.claimed_names(cluster))
    _register(lab)
    told = {"backend": info.backend, "version": info.version, "state": state}
    _say(translate("{backend} cluster, Kubernetes {version}: {state}", **told))
    return lab


class Lab:
    """A cluster at a section, with what a cell can ask of it. ``last`` is what the last command brought."""

    def __init__(
        self, cluster: Cluster, info: ClusterInfo, root: Path, claimed: tuple[CourseName, ...] | None = None
    ) -> None:
        self.cluster = cluster
        self.info = info
        self.root = root
        self._claimed = claimed
        self.last: KubectlResult | EtcdResult | None = None
        self._printed: KubectlResult | EtcdResult | None = None

    def __repr__(self) -> str:
        return f"<lab on {self.info.name}, Kubernetes {self.info.version}>"

    # -- commands -----------------------------------------------------------------------------------------------------

    def kubectl(self, *argv: str, stdin: Stdin = None) -> KubectlResult:
        """Run ``kubectl ARGV…`` and print what it printed. *stdin* may be text, an object or several (sent as YAML).

        Raises LabkitError only when kubectl could not be run to an end; a refusal is a result.
        """
        if argv[:1] == ("explain",):
            self._wait_documented()
        result = Kubectl(self.cluster).run(argv, stdin=_as_yaml(stdin))
        if gone := diagnose(result, self.cluster):
            raise gone
        self._printing(result, result.text)
        return result

    def etcd(
        self,
        key: str,
        *,
        prefix: bool = False,
        keys_only: bool = False,
        print_value_only: bool = False,
        fields: Sequence[str] = (),
    ) -> EtcdResult:
        """Read a key, or every key with a prefix, straight from etcd, and print it as etcdctl does.

        A value that is no text is printed in part, with escapes (``k8s\\x00…``); ``lab.last.kvs[0].value`` has it all.
        With *fields* only these top fields of each decoded object are printed, a key and its object a line.
        Raises CapabilityMissing where the cluster's etcd cannot be read.
        """
        result = Etcd(self.cluster).get(key, prefix=prefix, keys_only=keys_only)
        if fields:
            text = some_fields(result, fields)
        else:
            text = readable(result, print_value_only=print_value_only, keys_only=keys_only)
        self._printing(result, text)
        return result

    def forget_discovery(self) -> None:
        """Clear what kubectl has cached of the cluster's types: the next command asks anew, like a fresh machine."""
        forget_discovery(self.cluster)
        _say(translate("kubectl's discovery cache is cleared"))

    def load(self, path: str) -> dict[str, Any]:
        """The object of a manifest file, as Python has it; *path* as in the commands (``crd/…``)."""
        found = manifests.documents(self.root / path)
        return found[0]

    # -- observations: values that show themselves as a cell's last line -----------------------------------------------

    def conditions(self, crd: str = COLIS) -> Definition:
        """A definition as the server judges it: conditions, accepted names, versions, finalizers."""
        from labkit.observe import definition

        return definition.look(self.cluster, crd)

    def discovery(self, group: str = "cours.example.com") -> Group:
        """A group as clients find it: versions, the preferred one, types and their verbs."""
        from labkit.observe import discovery

        return discovery.look(self.cluster, group)

    def stored_and_read(self, plural: str, name: str, namespace: str = "ch54") -> StoredAndRead:
        """An object in etcd, beside what is read of it in each served version."""
        from labkit.observe import stored

        return stored.look(self.cluster, plural, name, namespace)

    def pruned_and_defaulted(self, file: str, name: str | None = None) -> PrunedAndDefaulted:
        """What the server would make of a manifest (a dry run): fields pruned, fields filled, or the refusal.

        *name* chooses among several objects of the file.
        """
        from labkit.observe import fields

        for manifest in manifests.documents(self.root / file):
            if name in (None, manifest["metadata"]["name"]):
                return fields.look(self.cluster, manifest)
        raise ManifestError(translate("{file}: no object named {name} in it", file=file, name=repr(name)))

    def wait_for_policy(self, manifest: Mapping[str, Any], field: str) -> None:
        """Wait until a mutating policy changes *field* of *manifest*; the server looks for new ones once a second."""
        from labkit.observe import policy

        policy.wait_in_force(self.cluster, dict(manifest), field)
        name = manifest["metadata"]["name"]
        _say(translate("in force: {field} of {name} is no longer stored as it is sent", field=field, name=name))

    def migration(self, name: str = MIGRATION) -> Migration:
        """A storage migration, waited for to its end, with every key's version before and after."""
        from labkit.observe import migration

        return migration.watch(self.cluster, name, _patient())

    def cost(
        self,
        definitions: int | Sequence[int] = (1, 10, 50),
        objects: int | Sequence[int] = 0,
        *,
        repeats: int = 3,
        through: Through = "api",
    ) -> Cost:
        """What *definitions* of a group of their own cost the server as they become more, or *objects* of one of them,
        measured *repeats* times and taken off again each time. It shows itself as tables and plots.

        *through* "kubectl" sends the definitions by ``kubectl apply`` instead of the API. Raises ValueError for numbers
        that do not grow, or of both; ClusterError for objects, or more than 50 definitions, elsewhere than on an
        embedded cluster.
        """
        from labkit.observe import cost
        from labkit.show.cost import title

        plan = cost.Plan(_numbers(definitions), _numbers(objects), repeats, through)
        with _bar(f"{title(plan)}, {plural('{n} round', '{n} rounds', repeats)}") as bar:
            return cost.measure(self.cluster, plan, bar.line, bar.part)

    def clean_up(self) -> CleanUp:
        """Delete everything the course made on this cluster, and look whether it is gone."""
        from labkit.observe import cleanup

        return cleanup.clean_up(self.cluster, _patient(), names=self._claimed)

    # -- exercises ----------------------------------------------------------------------------------------------------

    def answer(self, name: str, text: str) -> None:
        """Keep *text* as the answer to an exercise (what ``%%answer`` does), and say where. Raises ExerciseError."""
        _say(self._exercises.answer(name, text))

    def check(self, name: str) -> Report | int:
        """Judge the answer that is kept: probes are played on the cluster, which is at the exercise's beginning after.

        Run by nbgrader it prints the report and gives the points: the last value of a cell is its credit there.
        Raises CourseError when there is no answer yet.
        """
        report = self._exercises.check(name, _patient())
        if "NBGRADER_EXECUTION" in os.environ:
            print(self._exercises.text(report))
            return report.points
        return report

    def hint(self, name: str) -> Hint:
        """The next step of help for the first task that is not passed; the first is about the answer as it is."""
        return self._exercises.hint(name, _patient())

    def reset(self, name: str) -> None:
        """Put one exercise back: the starter as the answer, in a new cell too, and the cluster at its beginning."""
        starter = self._exercises.reset(name)
        shell = _shell()
        if shell is not None:
            shell.set_next_input(f"%%answer {name}\n{starter}")
        _say(translate("{id}: the answer is the starter again; the cluster is at the exercise's beginning", id=name))

    def progress(self) -> Standings:
        """How far the exercises are, as this folder's last checks said; it is no mark."""
        return self._exercises.progress()

    @property
    def _exercises(self) -> Desk:
        from labkit.exercises.desk import Desk

        return Desk(self.cluster, self.root)

    # -- predictions ---------------------------------------------------------------------------------------------------

    def predict(
        self,
        obj: Given,
        outcome: str | Sequence[str] | None = None,
        field: str | None = None,
        rule: str | None = None,
        *,
        validate: str | bool = "strict",
    ) -> Score | Question:
        """Say what the server will do with *obj* before it is asked; then it is asked (a dry run) and the score shown.

        *outcome* is "accepted as is", "completed", "pruned" or "refused"; *field* and *rule* say where and by what.
        Without an outcome there is a form to fill in. *validate* is kubectl's: "strict", "warn", or False.
        Raises PredictionError, ManifestError, ClusterGone.
        """
        from labkit.observe import prediction, verdict

        said = prediction.Prediction.of(outcome, field, rule) if outcome is not None else None
        question = prediction.question(self.cluster, self._object(obj), checking=verdict.checking(validate))
        return question if said is None else question.answer(said)

    def _object(self, obj: Given) -> Mapping[str, Any]:
        return self.load(obj) if isinstance(obj, str) else obj

    # -- the path of an object: a value that shows itself as a walk through its stages --------------------------------

    def trace(  # noqa: PLR0913  (a write has these parts)
        self,
        obj: Given,
        crd: Given | None = None,
        old: Given | None = None,
        *,
        version: str | None = None,
        validate: str = "Strict",
        as_new: bool = False,
    ) -> Trace:
        """What the server would do to *obj* on its way to etcd, stage by stage; nothing is sent to the cluster.

        *crd* is its definition, by default the one on the cluster; *old* what lies in etcd, by default what lies there
        (*as_new*: nothing). *version* is the version it is read back in. Raises TraceError, ApiError, ToolMissing.
        """
        from labkit.trace import engine, sources

        given = self._source(obj, "the object")
        named = self._source(crd, "the definition") if crd is not None else None
        definition, there = sources.live(self.cluster, given, namespace="ch54", definition=named)
        lying = self._source(old, "the old object") if old is not None else None if as_new else there
        return engine().trace(definition, given, old=lying, read_version=version, field_validation=validate)

    def trace_read(
        self, plural: str, name: str, namespace: str = "ch54", *, version: str | None = None, crd: Given | None = None
    ) -> Trace:
        """What the server does to an object on its way out of etcd, read in *version* (by default as it is stored).

        With *crd* as if the definition were that one. Raises CapabilityMissing where etcd cannot be read, ApiError
        with code 404 where the type or the object is not.
        """
        from labkit.trace import engine, sources

        found = sources.type_on(self.cluster, "", plural)
        lying = sources.in_etcd(self.cluster, found, namespace, name)
        definition = self._source(crd, "the definition") if crd is not None else found.definition
        return engine().trace(definition, lying, operation="read", read_version=version)

    def _source(self, given: Given, name: str) -> Source:
        from labkit.trace import Source, sources

        return sources.read(self.root / given, given) if isinstance(given, str) else Source.of(name, given)

    # -- printing -----------------------------------------------------------------------------------------------------

    def show(self, result: KubectlResult | EtcdResult) -> None:
        """Show a command's result as a cell's last line: as it was printed, unless this very cell printed it."""
        if result is self._printed:
            return
        if isinstance(result, KubectlResult):
            _print(result.text)
        else:
            _print(readable(result, print_value_only=False, keys_only=False))

    def new_cell(self, *_: object) -> None:
        """Told by IPython when a cell begins: nothing is printed in it yet."""
        self._printed = None

    def _printing(self, result: KubectlResult | EtcdResult, text: str) -> None:
        self.last = result
        self._printed = result
        _print(text)

    def _wait_documented(self) -> None:
        from labkit.course.published import wait_documented

        wait_documented(self.cluster, "cours.example.com")


# -- printing -------------------------------------------------------------------------------------------------------


def _say(line: str) -> None:
    print(line, flush=True)


def _patient(patience_s: float = PATIENCE_S) -> Progress:
    """A progress that stays silent at first, so that a recorded output does not hang on how fast a machine is."""
    began = time.monotonic()
    return lambda line: _say(line) if time.monotonic() - began > patience_s else None


def _bar(what: str) -> Bar | CellBar:
    """How far a long work is, in a cell where there is a kernel, else on standard error."""
    from labkit.show.progress import Bar, CellBar

    shell = _shell()
    if getattr(shell, "kernel", None) is not None:
        from IPython.display import display

        return CellBar(display, what)
    return Bar(sys.stderr, what)


def _numbers(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _print(text: str) -> None:
    sys.stdout.write(text if text.endswith("\n") or not text else f"{text}\n")
    sys.stdout.flush()


def _as_yaml(stdin: Stdin) -> str | None:
    if stdin is None or isinstance(stdin, str):
        return stdin
    import yaml

    objects = [stdin] if isinstance(stdin, Mapping) else list(stdin)
    return yaml.safe_dump_all(objects, allow_unicode=True, sort_keys=False)


# -- the process and its magics -------------------------------------------------------------------------------------


def _prepare_process(cluster: Cluster, root: Path) -> None:
    """Move to the course's folder, and let a plain ``kubectl`` reach the cluster."""
    os.chdir(root)
    wanted = environment(cluster)
    os.environ.update({name: wanted[name] for name in ("KUBECONFIG", "KUBECACHEDIR", "KUBERC") if name in wanted})
    folder = tools.folder_for_path()
    if folder is not None:
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def _shell() -> Any:
    """The IPython this process runs in, or None."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _register(lab: Lab) -> None:
    """Give IPython, where there is one, the magics and the views of the values they and the observations return."""
    shell = _shell()
    if shell is not None:
        from labkit import magics
        from labkit.exercises.views import VIEWS
        from labkit.show import ipython

        magics.register(shell, lab)
        ipython.register(shell, VIEWS)
        own_display = shell.display_formatter.ipython_display_formatter
        for kind in (KubectlResult, EtcdResult):
            own_display.for_type(kind, lab.show)
        shell.events.register("pre_run_cell", lab.new_cell)
