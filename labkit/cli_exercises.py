"""The verbs about exercises: the authors' ``labkit exercises``, and ``labkit submit``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from labkit.cli_common import course_root

__all__ = ["exercises", "submit"]


@click.group()
def exercises() -> None:
    """Authors: look at the exercises, and make the notebook of them."""


@exercises.command()
@click.argument("names", nargs=-1, metavar="[ID]…")
def check(names: tuple[str, ...]) -> None:
    """Play every solution, starter and wrong answer on a cluster of its own (of all exercises by default).

    Exit code 1: something is not as it must be; the table says what.
    """
    from labkit.cluster import choose
    from labkit.cluster.embedded import EmbeddedCluster
    from labkit.exercises import lint, model, views
    from labkit.grading.linting import linted
    from labkit.show import render_text
    from labkit.show.progress import Bar

    root = course_root()
    chosen = [model.find(root, name) for name in names] if names else list(model.load_all(root))
    tried: list[lint.Tried] = []
    with Bar(sys.stderr, "exercises") as bar, choose.opened(choose.resolve("embedded")) as cluster:
        for number, one in enumerate(chosen):
            bar.part(number / len(chosen))
            if isinstance(cluster, EmbeddedCluster) and cluster.held:
                tried += linted(one, cluster, bar.line)
            else:
                tried += lint.lint(one, cluster, bar.line)
    click.echo(render_text.render(views.lint_document(tried)))
    sys.exit(0 if all(one.good for one in tried) else 1)


@exercises.command()
@click.option("--check", "checking", is_flag=True, help="Write nothing: exit code 1 when it is not as the folders say.")
@click.option("--solutions", is_flag=True, help="With the solutions in nbgrader's markers (for instructors only).")
@click.option("-o", "target", type=click.Path(path_type=Path), metavar="FILE", help="By default the course's own.")
def notebook(checking: bool, solutions: bool, target: Path | None) -> None:
    """Make notebooks/10-exercises.ipynb from the exercises' folders."""
    from labkit.errors import CourseError
    from labkit.exercises import model
    from labkit.exercises import notebook as making

    if solutions and target is None:
        raise click.UsageError("--solutions needs -o FILE: the course's own notebook holds no answer")
    root = course_root()
    path = target or root / "notebooks" / making.NAME
    text = making.text(model.load_all(root), solutions=solutions)
    there = path.read_text(encoding="utf-8") if path.is_file() else ""
    if there == text:
        click.echo(f"{path}: as the folders say")
        return
    if checking:
        raise CourseError(f"{path} is not as the folders say", next_act="labkit exercises notebook")
    making.write(path, text)
    click.echo(f"{path}: written")


@click.command()
@click.option("-o", "target", type=click.Path(path_type=Path), metavar="ZIP", help="Default: submission.zip here.")
def submit(target: Path | None) -> None:
    """Put your answers and the notebook into one zip to hand in, and say which exercises are empty."""
    from labkit.course.notebook import find_root, language_of
    from labkit.exercises import submission
    from labkit.languages import speaking

    root = find_root(Path.cwd())
    with speaking(os.environ.get("LABKIT_LANG") or language_of([root / "notebooks"])):
        made = submission.make(root, target or Path("submission.zip"))
        click.echo(made.text)
