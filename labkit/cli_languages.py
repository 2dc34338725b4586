"""The authors' ``labkit languages``: catalogues brought up to date, and looked through."""

from __future__ import annotations

import sys

import click

__all__ = ["languages"]

_lang = click.option("--lang", default="fr", show_default=True, metavar="LANG")


@click.group()
def languages() -> None:
    """Authors: the catalogues of translations."""


@languages.command()
@_lang
def update(lang: str) -> None:
    """Bring the catalogues up to date with the English texts: new ones are empty, changed ones fuzzy."""
    from labkit import translating
    from labkit.machine.checkout import Checkout

    for one in translating.update(Checkout.here().root, lang):
        click.echo(one.text)


@languages.command()
@_lang
def check(lang: str) -> None:
    """Say which texts are not translated, fuzzy, or say something else than code, links and numbers in English.

    Exit code 1: there is one.
    """
    from labkit import translating
    from labkit.machine.checkout import Checkout

    found = list(translating.wrongs(Checkout.here().root, lang))
    for one in found:
        click.echo(one.line)
    click.echo(f"{lang}: {len(found)} not as they must be" if found else f"{lang}: all translated")
    sys.exit(1 if found else 0)
