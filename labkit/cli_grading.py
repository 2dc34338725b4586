"""``labkit grade``: the instructors' verb that makes a grade book of what a class handed in."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from labkit.cli_common import course_root
from labkit.languages import LANGUAGES

__all__ = ["grade"]

_MOST_JOBS = 500
_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/]+:[0-9]{1,5}/?")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _jobs(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    """A number of workers, or "auto", which is 0."""
    if value == "auto":
        return 0
    if not value.isdecimal() or not 1 <= int(value) <= _MOST_JOBS:
        raise click.BadParameter(f'{value!r} is neither "auto" nor a number from 1 to {_MOST_JOBS}')
    return int(value)


def _address(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if value and not _ADDRESS.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no address; a scheduler has one such as tcp://10.0.0.1:8786")
    return value


@click.command()
@click.argument("submissions", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "out", required=True, type=click.Path(path_type=Path), metavar="GRADES", help="Made if not there.")
@click.option(
    "--jobs", callback=_jobs, default="auto", show_default=True, metavar="N", help="Workers; auto: all cores."
)
@click.option("--roster", type=_FILE, metavar="CSV", help="The class list: id, last_name, first_name, email, folder.")
@click.option("--adjust", type=_FILE, metavar="CSV", help="Points by hand: student, exercise, points, comment.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Of the students' pages.")
@click.option("--with-solutions", is_flag=True, help="Explain the solutions on the students' pages.")
@click.option("--exercise", "only", multiple=True, metavar="ID", help="Only this one (may be given again).")
@click.option("--without-walls", is_flag=True, help="As root, also where nothing would hold students' programs.")
@click.option(
    "--scheduler", callback=_address, default="", metavar="tcp://HOST:PORT", help="A Dask cluster that is to do it."
)
def grade(  # noqa: PLR0913  (one for each option)
    *,
    submissions: Path,
    out: Path,
    jobs: int,
    roster: Path | None,
    adjust: Path | None,
    lang: str,
    with_solutions: bool,
    only: tuple[str, ...],
    without_walls: bool,
    scheduler: str,
) -> None:
    """Instructors: grade SUBMISSIONS (a folder or a zip, in the form that a platform gives) into GRADES.

    What is graded is kept: the same command, run again, grades only what is new or was interrupted. Exit code 1:
    something is listed that has to be looked at.
    """
    from labkit.grading.errors import GradingError

    if sys.platform != "linux":
        raise GradingError(
            "grading needs Linux", evidence=f"this is {sys.platform}", next_act="use a Linux machine, or WSL 2"
        )
    from labkit.grading import classroom, pages
    from labkit.show.plain import plain
    from labkit.show.progress import Bar

    root = course_root()
    _expect_exercises(root, only)
    order = classroom.Order(
        submissions=submissions,
        out=out,
        root=root,
        lang=lang,
        only=only,
        jobs=jobs,
        scheduler=scheduler,
        roster=roster,
        adjust=adjust,
        with_solutions=with_solutions,
        without_walls=without_walls,
    )
    if not scheduler:
        _tell_walls(do_without=without_walls)
    with Bar(sys.stderr, "grading") as bar:
        graded = classroom.grade(order, bar)
    click.echo(plain(graded.text))
    click.echo(f"written: {out / 'grades.csv'}, grades.json, junit.xml, {pages.CLASS_PAGE}, a folder each")
    sys.exit(1 if graded.book.problems else 0)


def _tell_walls(*, do_without: bool) -> None:
    """Say before anything runs what will not hold students' programs here."""
    from labkit.grading.walls import Walls

    for line in Walls.find(do_without=do_without).missing:
        click.echo(f"walls: {line}", err=True)


def _expect_exercises(root: Path, only: tuple[str, ...]) -> None:
    """A name that is none is a slip on the command line."""
    from labkit.exercises import model

    known = [one.id for one in model.load_all(root)] if only else []
    for name in only:
        if name not in known:
            raise click.BadParameter(f"no exercise {name!r}; there are {', '.join(known)}", param_hint="--exercise")
