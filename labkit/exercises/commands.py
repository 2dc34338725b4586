"""An answer that is a list of kubectl commands: read, held to what the course owns, and played in order.

Some tasks are not one text to apply but a way to go: first this, then that. Such an answer says commands as one would
type them, and it is played with the full rights of a check, in a grader too. So there is no shell, every option is one
that is known here, files come from ``crd/`` only, and what a command acts upon must be the course's: its objects, its
definition, its migration. A line that is anything else is refused before the first command runs.

A command that the server refuses does not end the play: a person at a terminal would go on as well, and what counts is
the state that is reached. That state must not depend on how busy the machine is: the play is patient where a person
would be, with a definition until the server goes by it, and with a migration before the definition is touched again.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.cluster import Api, Cluster
from labkit.cluster.claim import DEFINITIONS, NAMESPACE
from labkit.cluster.kubectl import Kubectl, KubectlResult, forget_discovery
from labkit.course.published import discovered
from labkit.errors import CommandTimeout, CourseError
from labkit.exercises.definitions import settle
from labkit.languages import numeral, translate
from labkit.observe import migration
from labkit.waiting import Seen, wait_for

__all__ = ["Command", "CommandRefused", "Played", "play", "read"]

LIMIT_S = 240.0
"""For all commands of an answer. A migration that nobody writes to takes about a minute to begin."""

_GROUP = "cours.example.com"
_DEFINITION = "colis.cours.example.com"
_MIGRATION = "colis-vers-v1"
_WAKER = "labkit-reveil"
_APPLY = "application/apply-patch+yaml"
_WRITES = ("apply", "create", "replace")
_VERBS = frozenset({*_WRITES, "annotate", "delete", "get", "label", "patch", "wait"})
_ASSIGNING = ("annotate", "label")
_MEANWHILE = (*_ASSIGNING, "get", "wait")
"""What may be done while a migration runs: it is what a person does who waits for one."""
_FLAGS = frozenset(
    {
        "--all",
        "--all-namespaces",
        "-A",
        "--force-conflicts",
        "--ignore-not-found",
        "--no-headers",
        "--overwrite",
        "--server-side",
        "--show-managed-fields",
        "--wait",
    }
)
_VALUES: Mapping[str, str] = {
    "-f": r"crd/[a-z0-9/-]+\.yaml|-",
    "--filename": r"crd/[a-z0-9/-]+\.yaml|-",
    "-n": NAMESPACE,
    "--namespace": NAMESPACE,
    "-o": r"name|yaml|json|wide|jsonpath=.*",
    "--output": r"name|yaml|json|wide|jsonpath=.*",
    "-p": r".*",
    "--patch": r".*",
    "--type": r"merge|json",
    "--subresource": r"status",
    "-l": r"[^@]*",
    "--selector": r"[^@]*",
    "--for": r"(condition|jsonpath|delete|create)(=.*)?",
    "--timeout": r"([0-9]{1,2}|1[0-9]{2})s|[12]m",
    "--field-manager": r"[a-z0-9-]+",
    "--validate": r"true|false|strict|warn|ignore",
}
"""Option → what its value may be."""

_COLIS = re.compile(rf"(colis|cl|cours)(\.v[a-z0-9]+)?(\.{re.escape(_GROUP)})?")
_NAMED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"crds?|customresourcedefinitions?(\.v1)?(\.apiextensions\.k8s\.io)?"), _DEFINITION),
    (re.compile(r"storageversionmigrations?(\.v1)?(\.storagemigration\.k8s\.io)?"), _MIGRATION),
)
"""Types of which one object is the course's."""


class CommandRefused(CourseError, ValueError):
    """A line of an answer is no command that is played; the state says which line and why."""


@dataclass(frozen=True)
class Command:
    """One line: its *text*, and the argument lists (without "kubectl") that are joined by ``|``.

    *meanwhile* says that it leaves the definition alone, and so need not wait for a migration to end.
    """

    text: str
    parts: tuple[tuple[str, ...], ...]
    meanwhile: bool


@dataclass(frozen=True)
class Played:
    """One line and what came of it; *complaint* is kubectl's error, "" when it ended well."""

    command: str
    complaint: str


def read(text: str) -> tuple[Command, ...]:
    """The commands of an answer, one a line; ``\\`` at a line's end goes on, ``#`` begins a comment.

    Raises CommandRefused for anything else. An answer may have no command at all.
    """
    commands = []
    for line in text.replace("\\\n", " ").splitlines():
        words = _words(line)
        if words:
            shown = " ".join(line.split())
            parts = [_part(shown, part, piped=number > 0) for number, part in enumerate(_split(shown, words))]
            meanwhile = all(verb in _MEANWHILE for verb, _ in parts)
            commands.append(Command(shown, tuple(argv for _, argv in parts), meanwhile))
    return tuple(commands)


def play(cluster: Cluster, text: str, root: Path) -> tuple[Played, ...]:
    """Play the commands of *text* in order, in *root* (which holds ``crd/``); after each, wait until the server goes by
    the definition it may have changed.

    Raises CommandRefused before anything is played, WaitTimeout, ClusterGone.
    """
    commands = read(text)
    forget_discovery(cluster)
    until = time.monotonic() + LIMIT_S
    done = []
    with Api(cluster) as api:
        for command in commands:
            if not command.meanwhile:
                _wait_migrated(cluster, api)
            before = _generation(api)
            done.append(Played(command.text, _run(cluster, command, root, until)))
            if _generation(api) != before:
                settle(api, f"{DEFINITIONS}/{_DEFINITION}")
                _wait_in_force(api)
                forget_discovery(cluster)
        _wait_migrated(cluster, api)
    return tuple(done)


# -- reading --------------------------------------------------------------------------------------------------------


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        return list(lexer)
    except ValueError as error:
        raise CommandRefused(translate("a quotation mark is not closed: {line}", line=line.strip())) from error


def _split(shown: str, words: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == "|":
            yield part
            part = []
        elif word and set(word) <= set(";&<>()|"):
            raise CommandRefused(
                translate("there is no shell here, and {word} is one's: {line}", word=word, line=shown),
                next_act=translate("one command a line; | may join two"),
            )
        else:
            part.append(word)
    yield part


def _part(shown: str, words: list[str], *, piped: bool) -> tuple[str, tuple[str, ...]]:
    """The verb and the arguments of one kubectl."""
    if not words or words[0] != "kubectl":
        raise CommandRefused(translate("only kubectl is run here: {line}", line=shown))
    plain, options = _sorted(shown, words[1:])
    if not plain or plain[0] not in _VERBS:
        raise CommandRefused(
            translate("no command that is played here: {line}", line=shown),
            next_act=translate("kubectl with one of {verbs}", verbs=", ".join(sorted(_VERBS))),
        )
    verb, rest = plain[0], plain[1:]
    files = [value for name, value in options if name in ("-f", "--filename")]
    if ("-" in files) != piped:
        raise CommandRefused(translate("-f - reads what comes through |, and nothing else does: {line}", line=shown))
    if verb in _WRITES and (rest or not files):
        raise CommandRefused(
            translate("{verb} takes a file of crd/, or what comes through |: {line}", verb=verb, line=shown)
        )
    if not files:
        _check_target(shown, verb, rest, {name for name, _ in options})
    return verb, tuple(words[1:])


def _sorted(shown: str, words: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The words that are no options, and the options with their values."""
    plain: list[str] = []
    options: list[tuple[str, str]] = []
    waiting = iter(words)
    for word in waiting:
        name, given, value = word.partition("=")
        if not word.startswith("-"):
            plain.append(word)
        elif name in _FLAGS and (not given or value in ("true", "false")):
            options.append((name, value))
        elif name in _VALUES:
            _value(shown, name, value if given else next(waiting, ""), options)
        elif not word.startswith("--") and word[:2] in _VALUES:
            _value(shown, word[:2], word[2:], options)
        else:
            raise CommandRefused(translate("the option {name} is not played here: {line}", name=name, line=shown))
    return plain, options


def _value(shown: str, name: str, value: str, options: list[tuple[str, str]]) -> None:
    if not re.fullmatch(_VALUES[name], value, re.DOTALL):
        raise CommandRefused(
            translate("{option} is not played here: {line}", option=f"{name} {value}", line=shown),
            next_act=translate("it may be {values}", values=_VALUES[name]),
        )
    options.append((name, value))


def _check_target(shown: str, verb: str, rest: list[str], options: set[str]) -> None:
    """See to it that a command acts upon the course's own: any Colis, its definition, its migration."""
    if verb in _ASSIGNING:
        rest = [word for word in rest if "=" not in word and not word.endswith("-")]
    slashed = [word for word in rest if "/" in word]
    pairs = [word.split("/", 1) for word in slashed] if slashed else [[rest[0], *rest[1:]]] if rest else []
    if not pairs or (slashed and len(slashed) != len(rest)):
        raise CommandRefused(
            translate("it is not said what is meant: {line}", line=shown),
            next_act=translate("a type and a name, or TYPE/NAME"),
        )
    for kind, *names in pairs:
        if _COLIS.fullmatch(kind.lower()):
            continue
        owned = next((name for pattern, name in _NAMED if pattern.fullmatch(kind.lower())), None)
        if owned is None or not names or set(names) != {owned} or options & {"--all", "-l", "--selector"}:
            raise CommandRefused(
                translate("this is not the exercise's to touch: {line}", line=shown),
                next_act=translate(
                    "Colis in {namespace}, the definition {definition}, the migration {migration}",
                    namespace=NAMESPACE,
                    definition=_DEFINITION,
                    migration=_MIGRATION,
                ),
            )


# -- playing --------------------------------------------------------------------------------------------------------


def _run(cluster: Cluster, command: Command, root: Path, until: float) -> str:
    """Play one line; what kubectl complained of, "" for nothing."""
    out: str | None = None
    for argv in command.parts:
        left = until - time.monotonic()
        if left <= 0:
            return translate("not played: the commands before it took {seconds} s", seconds=numeral(LIMIT_S, "g"))
        try:
            result = Kubectl(cluster).run(argv, stdin=out, timeout_s=left, cwd=root)
        except CommandTimeout as error:
            return error.state
        if not result.ok:
            return _complaint(result)
        out = result.stdout
    return ""


def _generation(api: Api) -> int | None:
    """Which edition of the definition is there: it changes with every change of what it says."""
    found = api.get(f"{DEFINITIONS}/{_DEFINITION}")
    return int(found["metadata"]["generation"]) if found is not None else None


def _complaint(result: KubectlResult) -> str:
    lines = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith("Warning: ")]
    return " ".join(lines)[:400] or translate("exit code {code}", code=result.exit_code)


def _wait_in_force(api: Api) -> None:
    """Wait until each version of the course's definitions is served, or not, as its definition says."""

    def look() -> Seen[None]:
        wanted: set[str] = set()
        for definition in api.list(DEFINITIONS):
            spec = definition["spec"]
            if spec["group"] != _GROUP or "deletionTimestamp" in definition["metadata"]:
                continue
            for version in spec["versions"]:
                path = f"/apis/{_GROUP}/{version['name']}/{spec['names']['plural']}?limit=1"
                there = api.raw("GET", path).code != 404
                wanted |= {version["name"]} if version["served"] else set()
                if there != version["served"]:
                    return Seen(
                        False,
                        translate("{version} is still served", version=version["name"])
                        if there
                        else translate("{version} is not yet served", version=version["name"]),
                    )
        listed = discovered(api).get(_GROUP, set())
        return Seen(
            listed == wanted,
            translate("discovery lists {names}, wanted {wanted}", names=sorted(listed), wanted=sorted(wanted)),
        )

    wait_for(translate("the definition to come into force"), look, limit_s=60.0)


def _wait_migrated(cluster: Cluster, api: Api) -> None:
    """Wait until the migration has ended, if there is one, successful or not.

    It begins with the next write to an object of the type, or after a minute; so an object is made for it, and deleted.
    """
    path = f"{migration.MIGRATIONS}/{_MIGRATION}"
    found = api.get(path)
    if found is None:
        return

    def look() -> Seen[None]:
        status = (api.get(path) or {}).get("status") or {}
        ended = any(one["status"] == "True" and one["type"] != "Running" for one in status.get("conditions") or ())
        return Seen(ended or "resourceVersion" in status, translate("it has not begun"))

    wait_for(translate("the migration {name} to begin", name=_MIGRATION), look, limit_s=60.0)
    group_version = f"{_GROUP}/{max(discovered(api).get(_GROUP, {'v1'}))}"
    write = {"apiVersion": group_version, "kind": "Colis", "metadata": {"name": _WAKER, "namespace": NAMESPACE}}
    waker = f"/apis/{group_version}/namespaces/{NAMESPACE}/colis/{_WAKER}"
    api.raw("PATCH", f"{waker}?fieldManager=labkit&force=true", write | {"spec": {"version": "0.0.0"}}, _APPLY)
    api.raw("DELETE", waker)
    migration.watch(cluster, _MIGRATION)
