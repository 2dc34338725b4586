"""``labkit site``: the course as pages, from the repository."""

from __future__ import annotations

from pathlib import Path

import click

from labkit.cli_common import say
from labkit.languages import LANGUAGES

__all__ = ["site"]


@click.command()
@click.option("--lang", type=click.Choice([*LANGUAGES, "all"]), default="all", show_default=True)
@click.option("--instructor", is_flag=True, help="With solutions, explanations and wrong answers.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A folder for each language goes there; by default dist/site.",
)
def site(lang: str, instructor: bool, output: Path | None) -> None:
    """Make the course pages: for any web server, or to be opened from a folder.

    Pages for students are searched for answers first, and put in place only when there is none.
    """
    from labkit.machine.checkout import Checkout
    from labkit.site import building

    root = Checkout.here().root
    folder = output or root / "dist" / ("site-instructor" if instructor else "site")
    for one in LANGUAGES if lang == "all" else (lang,):
        click.echo(building.build(root, folder / one, one, instructor=instructor, say=say).text)
