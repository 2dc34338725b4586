"""The ``labkit`` command: one function a verb, each a few lines around what a room already does.

Exit codes: 0 everything is as it should be; 1 it is not (a step differs, a cluster cannot be had); 2 the command line
is wrong; 130 interrupted. ``labkit kubectl`` has kubectl's own. A ``LabkitError`` is shown in its one or two lines,
never as a traceback.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labkit import __version__, cli_definitions, cli_exercises, cli_grading, cli_languages, cli_site
from labkit.cli_common import attached, cluster_option, course_root, say
from labkit.errors import LabkitError
from labkit.languages import translate

if TYPE_CHECKING:
    from labkit.course.notebook import CourseNotebook

__all__ = ["main"]

INTERRUPTED = 130
PASS_THROUGH: dict[str, Any] = {"ignore_unknown_options": True, "allow_interspersed_args": False}

yes_option = click.option("--yes", is_flag=True, help="Let the course use its own names on a cluster of somebody else.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="labkit")
def cli() -> None:
    """A course on CustomResourceDefinitions, played on a real Kubernetes API server."""


cli.add_command(cli_exercises.exercises)
cli.add_command(cli_exercises.submit)
cli.add_command(cli_grading.grade)
cli.add_command(cli_languages.languages)
cli.add_command(cli_site.site)
for verb in (cli_definitions.trace, cli_definitions.cel_cost, cli_definitions.preview):
    cli.add_command(verb)


# -- the course ------------------------------------------------------------------------------------------------------


@cli.command()
@cluster_option
@yes_option
@click.option("--section", "sections", multiple=True, metavar="S", help="Only this section (may be given again).")
@click.option("--report", type=click.Path(path_type=Path), help="Write what came back, as JSON, for labkit parity.")
@click.option("--allow-skipped", is_flag=True, help="Steps this cluster cannot show do not count against it.")
def play(spelled: str | None, yes: bool, sections: tuple[str, ...], report: Path | None, allow_skipped: bool) -> None:
    """Play the chapter step by step and compare each with what is recorded."""
    from labkit.cluster import choose, claim
    from labkit.course import notebook, player
    from labkit.show.player import Screen

    chosen = choose.resolve(spelled)
    if report is not None:
        _expect_writable(report)
    notebooks = notebook.select(notebook.load_all(course_root() / "notebooks"), sections)
    _expect_recorded(notebooks)
    with Screen(sys.stdout) as screen, choose.opened(chosen, progress=screen.waiting) as cluster:
        claim.claim(cluster, yes or os.environ.get("LABKIT_CLAIM") == "1")
        played = player.play(cluster, notebooks, report=screen, starting=screen.starting)
        screen.summary(played)
    if report is not None:
        played.write(report)
    sys.exit(0 if played.good(allow_skipped=allow_skipped) else 1)


def _expect_recorded(notebooks: Sequence[CourseNotebook]) -> None:
    """Refuse to play what nothing can be compared with, before a cluster is started."""
    from labkit.errors import CourseError

    if not any(step.outputs for one in notebooks for step in one.steps):
        raise CourseError(
            translate("the notebooks here have no recorded outputs to compare with"),
            evidence=translate("students get them without: {folder}", folder=notebooks[0].path.parent),
            next_act=translate("open them: labkit lab; to play, clone the repository"),
        )


@cli.command()
@click.argument("one", type=click.Path(exists=True, path_type=Path))
@click.argument("other", type=click.Path(exists=True, path_type=Path))
def parity(one: Path, other: Path) -> None:
    """Compare two reports of labkit play: the steps whose output differs, after sanitizing."""
    from labkit.course import parity as comparing
    from labkit.course.report import PlayReport
    from labkit.show import parity as view

    differences = comparing.compare(PlayReport.read(one), PlayReport.read(other))
    click.echo(view.text(differences), nl=False)
    sys.exit(1 if differences else 0)


@cli.command()
@click.argument("notebooks", nargs=-1, type=click.Path(exists=True, path_type=Path))
def record(notebooks: tuple[Path, ...]) -> None:
    """Authors: run notebooks on an embedded cluster and write their outputs in place (all of them by default)."""
    from labkit.cluster import choose
    from labkit.course import notebook
    from labkit.course import record as recording

    with choose.opened(choose.resolve("embedded"), progress=say) as cluster:
        for path in notebooks or [one.path for one in notebook.load_all(course_root() / "notebooks")]:
            changed = recording.record(path, cluster, kept=lambda step, why: click.echo(f"{step.id}: {why}"))
            click.echo(f"{path.name}: {'written' if changed else 'as it was'}")


@cli.command()
def lab() -> None:
    """Open JupyterLab on a working copy of the course, ./lab, its kernels on a cluster of their own."""
    from labkit.machine.jupyter import open_lab

    sys.exit(open_lab(progress=say))


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH…")
def scan(paths: tuple[Path, ...]) -> None:
    """Instructors: find any answer that is left in files or folders for students, also inside archives and pages.

    Exit code 1: there is one, or something could not be looked into; the lines say where.
    """
    from labkit import scan as scanning

    found = scanning.scan(scanning.read_answers(course_root()), paths)
    click.echo(found.text)
    sys.exit(0 if found.clean else 1)


@cli.command()
@click.option("--lang", default="en", show_default=True, metavar="LANG", help="The language of the edition.")
@click.option("--instructor", is_flag=True, help="Instead: the source of an nbgrader assignment, with the solutions.")
@click.option(
    "-o", "target", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Such as dist/student/en."
)
def release(lang: str, instructor: bool, target: Path) -> None:
    """Instructors: make the student edition in DIR, without outputs and answers, and look for answers in it.

    The wheels in dist/wheels (make wheels) go along, where they were made of today's sources.
    DIR is made whole or not at all; one that an earlier release made, and nobody has changed, is replaced.
    """
    from labkit import release as releasing

    root = course_root()
    if instructor:
        made = releasing.release_instructors(root, target, lang=lang)
    else:
        made = releasing.release(root, target, lang=lang, wheels=_wheels(root))
    click.echo(made.text)


def _wheels(root: Path) -> tuple[Path, ...]:
    """Those of the checkout *root* that fit its sources; says which do not, or that there are none."""
    from labkit.machine import wheels
    from labkit.machine.checkout import Checkout

    folder = root / wheels.INTO
    fitting = wheels.fitting(Checkout(root), folder)
    for path in sorted(set(folder.glob("*.whl")) - set(fitting)):
        say(f"left out: {path.name} was not made of today's sources (make wheels)")
    if not fitting:
        say(f"without labkit itself: no wheels in {wheels.INTO} (make wheels)")
    return fitting


# -- clusters --------------------------------------------------------------------------------------------------------


@cli.command()
@cluster_option
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep its objects in DIR over a stop.")
def start(spelled: str | None, keep: Path | None) -> None:
    """Start a cluster that runs until labkit stop."""
    from labkit.cluster import Owner, choose
    from labkit.cluster.embedded import EmbeddedCluster

    chosen = choose.resolve(spelled)
    if keep is not None and (chosen.backend not in ("any", "embedded") or chosen.path is not None):
        raise click.UsageError("--keep names the directory of an embedded cluster; leave --cluster out")
    cluster = choose.attach_or_start(chosen, owner=Owner.LEFT, keep=keep, progress=say)
    info = cluster.info()
    told = {"backend": info.backend, "version": info.version, "server": info.server}
    click.echo(translate("{backend} cluster, Kubernetes {version}, {server}", **told))
    for lack in info.lacks:
        click.echo(f"  {translate('not here: {lack}', lack=lack)}")
    if isinstance(cluster, EmbeddedCluster):
        removed = translate("objects are kept in {folder}; labkit stop removes them", folder=cluster.state_dir)
        kept = translate("objects are kept in {folder}, also over a stop", folder=cluster.state_dir)
        click.echo(f"  {removed if cluster.ready.throw_away else kept}")
    if info.backend == "kubeconfig":
        named = translate("it runs already and is not labkit's to stop; name it with --cluster or LABKIT_CLUSTER")
        click.echo(f"  {named}")
    else:
        todo = translate(
            'next: eval "$(labkit env)" and kubectl get namespaces; or open a notebook; labkit stop ends it'
        )
        click.echo(todo)


@cli.command()
@cluster_option
def stop(spelled: str | None) -> None:
    """Stop the started cluster, and remove what throw-away clusters have left."""
    from labkit.cluster import choose, embedded, places

    chosen = choose.resolve(spelled)
    if chosen.backend == "kubeconfig":
        raise click.UsageError("a cluster of a kubeconfig is not labkit's to stop")
    if chosen.backend == "minikube":
        from labkit.cluster.minikube import MinikubeCluster

        profile = MinikubeCluster(chosen.profile)
        profile.stop()
        click.echo(f"minikube profile {chosen.profile}: {'stopped' if profile.owned else 'not started by labkit'}")
        return
    stopped = embedded.stop_directory(chosen.path or places.started())
    none = translate("embedded cluster: none was running")
    click.echo(translate("embedded cluster: stopped") if stopped else none)
    for state_dir in embedded.remove_leftovers():
        click.echo(translate("removed what a killed cluster left: {folder}", folder=state_dir))


@cli.command()
@cluster_option
@yes_option
def reset(spelled: str | None, yes: bool) -> None:
    """Take everything the course has made off a cluster."""
    from labkit.cluster import choose, claim

    cluster = choose.attach(choose.resolve(spelled))
    claim.claim(cluster, yes or os.environ.get("LABKIT_CLAIM") == "1")
    cluster.reset(say)
    click.echo(translate("the course's objects and definitions are gone"))


@cli.command()
@cluster_option
def env(spelled: str | None) -> None:
    """Print shell lines that point kubectl at a running cluster: eval "$(labkit env)"."""
    from labkit.cluster import system, tools
    from labkit.cluster.kubectl import environment

    folder = tools.folder_for_path()
    for name, value in environment(attached(spelled), {}).items():
        if name.startswith("KUBE"):
            click.echo(system.assignment(name, value))
    if folder is not None:
        click.echo(system.path_begins_with(folder))


@cli.command(context_settings=PASS_THROUGH, add_help_option=False)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED)
def kubectl(argv: tuple[str, ...]) -> None:
    """Run kubectl on the running cluster (the one $LABKIT_CLUSTER names, else the started one)."""
    import subprocess

    from labkit.cluster import tools
    from labkit.cluster.kubectl import environment

    program = tools.find_kubectl()
    done = subprocess.run([str(program), *argv], env=environment(attached(None)), check=False)
    sys.exit(done.returncode)


@cli.group()
def etcd() -> None:
    """Read what the API server has stored (never write)."""


@etcd.command()
@cluster_option
@click.argument("key")
@click.option("--prefix", is_flag=True, help="All keys that begin with KEY.")
@click.option("--keys-only", is_flag=True, help="Keys without values.")
@click.option("--print-value-only", is_flag=True, help="Values without keys.")
def get(spelled: str | None, key: str, prefix: bool, keys_only: bool, print_value_only: bool) -> None:
    """Print a key and its value as etcdctl does, byte for byte."""
    from labkit.cluster import Etcd

    result = Etcd(attached(spelled)).get(key, prefix=prefix, keys_only=keys_only)
    sys.stdout.buffer.write(result.print(print_value_only=print_value_only))


# -- measurements ----------------------------------------------------------------------------------------------------


@cli.command()
@cluster_option
@yes_option
@click.option("--full", is_flag=True, help="Up to 500 definitions, then 3000 objects, on new embedded clusters only.")
@click.option("--csv", "tables", type=click.Path(path_type=Path), metavar="DIR", help="Save the numbers into DIR.")
@click.option("--plots", type=click.Path(path_type=Path), metavar="DIR", help="Save the figures into DIR.")
def cost(spelled: str | None, yes: bool, full: bool, tables: Path | None, plots: Path | None) -> None:
    """Measure what 1, 10 and 50 definitions cost a cluster, and take them off again."""
    from labkit.cluster import choose
    from labkit.observe import cost as measuring
    from labkit.show import cost as view
    from labkit.show import frames, progress, views
    from labkit.show import plots as drawing

    chosen = choose.resolve("embedded" if full and choose.resolve(spelled).backend == "any" else spelled)
    plans = measuring.FULL if full else (measuring.Plan(),)
    for plan in plans:
        measuring.refuse_elsewhere(plan, embedded=chosen.backend in ("any", "embedded"), spelled=chosen.backend)
    for folder in (tables, plots):
        if folder is not None:
            _expect_folder(folder)
    yes = yes or os.environ.get("LABKIT_CLAIM") == "1"
    for plan in plans:
        with progress.Bar(sys.stderr, view.title(plan)) as bar:
            measured = measuring.measure_apart(chosen, plan, bar.line, bar.part, yes=yes)
        click.echo(views.text(measured))
        written = [
            *(frames.save(measured, tables) if tables else ()),
            *([drawing.save(measured, plots)] if plots else ()),
        ]
        for file in written:
            click.echo(f"written: {file}")


# -- the machine -----------------------------------------------------------------------------------------------------


@cli.command()
def doctor() -> None:
    """Say what is there, what is missing, and the command that mends it."""
    from labkit.machine import doctor as examining

    sys.exit(examining.main())


def _expect_folder(folder: Path) -> None:
    """Make a folder for results, or refuse it before minutes of measuring."""
    from labkit.errors import CourseError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CourseError(
            "the results cannot be saved", evidence=f"{folder}: {error.strerror}", next_act="name another folder"
        ) from error
    _expect_writable(folder / "labkit-results")


def _expect_writable(report: Path) -> None:
    """Refuse a report that cannot be written before a minute of play, not after it."""
    import tempfile

    from labkit.errors import CourseError

    try:
        with tempfile.TemporaryFile(dir=report.absolute().parent):
            if not report.is_dir():
                return
            reason = "it is a folder"
    except OSError as error:
        reason = error.strerror or str(error)
    raise CourseError("the report cannot be written", evidence=f"{report}: {reason}", next_act="name another file")


def _tell_notes(error: BaseException) -> None:
    """What was noted on an error on its way: what it has left behind."""
    for note in getattr(error, "__notes__", ()):
        say(f"  {note}")


def main() -> None:
    """Entry point: run the verb, and turn labkit's errors and interrupts into exit codes."""
    from labkit.cluster import system

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows a question mark for it
            stream.reconfigure(errors="replace")
    try:
        with system.ends_on_signals():
            cli.main(standalone_mode=False)
    except (LabkitError, OSError) as error:
        say(f"labkit: {error}")
        _tell_notes(error)
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        click.echo("labkit: interrupted", err=True)
        _tell_notes(error.__cause__ or error)
        sys.exit(INTERRUPTED)
