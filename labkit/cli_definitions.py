"""The verbs for authors of definitions, with or without the course: ``trace``, ``cel-cost``, ``preview``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from labkit.cli_common import attached, cluster_option, say

__all__ = ["cel_cost", "preview", "trace"]


@click.command()
@click.argument("obj", metavar="OBJECT", type=click.Path(path_type=Path))
@click.option("--crd", type=click.Path(path_type=Path), metavar="FILE", help="The definition.")
@click.option("--old", type=click.Path(path_type=Path), metavar="FILE", help="What lies in etcd: OBJECT replaces it.")
@click.option("--stored", is_flag=True, help="OBJECT is what lies in etcd: only reading it is traced.")
@click.option("--version", "read_version", metavar="V", help="Read it back in this version (default: OBJECT's own).")
@click.option("--validate", type=click.Choice(["strict", "warn", "ignore"]), default="strict", show_default=True,
              help="What to do about unknown fields, as kubectl has it.")  # fmt: skip
@click.option("--from-cluster", is_flag=True, help="Take from a cluster what --crd and --old do not give.")
@cluster_option
@click.option("-o", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
def trace(  # noqa: PLR0913  (the options of the command line)
    *, obj: Path, crd: Path | None, old: Path | None, stored: bool, read_version: str | None, validate: str,
    from_cluster: bool, spelled: str | None, form: str,
) -> None:  # fmt: skip
    """Show what the API server does to OBJECT (a file, or - for standard input), stage by stage, down to etcd.

    Nothing is sent to a cluster. Exit code 0: accepted; 1: refused, or unknown (the trace stops at a webhook).
    """
    from labkit.errors import BadDocument
    from labkit.show import views
    from labkit.show.plain import plain_json
    from labkit.trace import engine, sources

    if crd is None and not from_cluster:
        raise click.UsageError("give the definition with --crd, or --from-cluster to take it from a cluster")
    if stored and old is not None:
        raise click.UsageError("--stored traces a read, which --old has no part in")
    _expect_one_input(obj, crd, old)
    given = sources.read(obj)
    definition, lying = (sources.read(path) if path is not None else None for path in (crd, old))
    if from_cluster:
        definition, there = sources.live(attached(spelled), given, namespace="default", definition=definition)
        lying = lying or (None if stored else there)
    assert definition is not None  # noqa: S101  (one of the two options gave it)
    traced = engine().trace(
        definition, given, old=lying, operation="read" if stored else None, read_version=read_version,
        field_validation=validate.capitalize(),
    )  # fmt: skip
    if not traced.decoded and form != "json":
        raise BadDocument(
            f"{given.name}: the server would refuse it before any stage",
            evidence=" ".join("; ".join(traced.lines).split()),
        )
    if form == "json":
        click.echo(plain_json(traced.to_json(), indent=2))
    else:
        click.echo(views.page(traced) if form == "html" else views.text(traced), nl=form == "text")
    sys.exit(0 if traced.verdict == "accepted" else 1)


@click.command("cel-cost")
@click.argument("definition", metavar="FILE", type=click.Path(path_type=Path))
@click.option("-o", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
def cel_cost(definition: Path, form: str) -> None:
    """Estimate what the rules of a definition cost (a file, or - for standard input), and say what would lower it.

    No cluster is asked. Exit code 0: the server would accept the definition; 1: it would not.
    """
    from labkit.show import views
    from labkit.show.plain import plain_json
    from labkit.trace import engine, sources

    costs = engine().cel_cost(sources.read(definition))
    if form == "json":
        click.echo(plain_json(costs.to_json(), indent=2))
        for line in costs.other_lines:
            say(f"labkit: {costs.source}: {line}")
    else:
        click.echo(views.page(costs) if form == "html" else views.text(costs), nl=form == "text")
    sys.exit(1 if costs.refused else 0)


@click.command()
@click.argument("objects", nargs=-1, type=click.Path(path_type=Path))
@click.option("--crd", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The new definition.")
@click.option("--old-crd", type=click.Path(path_type=Path), metavar="FILE", help="The definition that it replaces.")
@click.option("--from-cluster", is_flag=True, help="Take all stored objects, and what --old-crd does not give.")
@click.option("--version", metavar="V", help="Read and write in this version (default: the one that clients prefer).")
@cluster_option
@click.option("-o", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
def preview(  # noqa: PLR0913  (the options of the command line)
    *, objects: tuple[Path, ...], crd: Path, old_crd: Path | None, from_cluster: bool, version: str | None,
    spelled: str | None, form: str,
) -> None:  # fmt: skip
    """Show what becomes of stored objects when a definition changes: of their next read, their next write, a restore.

    OBJECTS are files, or folders of files, of objects as they are stored. Nothing is changed, on a cluster either. Exit
    code 1: the definition or an object's read or write is refused, or something is lost that is stored now.
    """
    from labkit.show import preview as view
    from labkit.show import progress, views
    from labkit.trace import collection, engine, sources
    from labkit.trace.preview import preview as look

    if from_cluster is bool(objects):
        raise click.UsageError("give files of OBJECTS, or --from-cluster")
    _expect_one_input(*objects, crd, old_crd)
    new = sources.read(crd)
    old = sources.read(old_crd) if old_crd is not None else None
    name = engine().define(new).name
    if from_cluster:
        cluster = attached(spelled)
        there = sources.type_named(cluster, name)
        old, found = old or there.definition, collection.stored_on(cluster, there)
    else:
        found = collection.in_files(objects)
    with view.JsonObjects() as every, progress.counting(sys.stderr, f"preview of {name}", found.total) as counted:
        each = every.add if form == "json" else None
        seen = look(engine(), new, counted(found.objects), old=old, version=version, unseen=found.unseen, each=each)
        if form == "json":
            every.write(seen, sys.stdout)
    if form != "json":
        click.echo(views.page(seen) if form == "html" else views.text(seen), nl=form == "text")
    sys.exit(0 if seen.harmless else 1)


def _expect_one_input(*paths: Path | None) -> None:
    if [str(path) for path in paths].count("-") > 1:
        raise click.UsageError("standard input (-) holds one file")
