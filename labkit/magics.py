"""``%kubectl``, ``%%kubectl``, ``%etcd`` and ``%%answer``: a cell that reads like the chapter's shell, or is an answer.

A magic must never turn a lesson into a traceback: a refusal, a misspelt command and a cluster that died are all
printed as text. Arguments are split as a shell splits them (quotes work), and nothing is expanded: ``{.spec}`` is
jsonpath, not a Python variable.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Protocol

from labkit.errors import CapabilityMissing, LabkitError
from labkit.languages import translate

__all__ = ["ETCD_USAGE", "parse_etcd", "register"]

ETCD_USAGE = "%etcd get KEY [--prefix] [--keys-only] [--print-value-only]"
_ETCD_FLAGS = {"--prefix": "prefix", "--keys-only": "keys_only", "--print-value-only": "print_value_only"}


class Speaks(Protocol):
    """What the magics call; ``labkit.lab.Lab`` is one."""

    def kubectl(self, *argv: str, stdin: str | None = None) -> object: ...

    def etcd(
        self, key: str, *, prefix: bool = False, keys_only: bool = False, print_value_only: bool = False
    ) -> object: ...

    def answer(self, name: str, text: str) -> object: ...


def register(shell: Any, lab: Speaks) -> None:
    """Give *shell* (an IPython) the magics, speaking for *lab*; a second call replaces the first's.

    A ``LabkitError`` that a cell lets pass is shown from then on as its one or two lines, without a traceback.
    """
    from IPython.core.magic import no_var_expand

    @no_var_expand
    def kubectl(line: str, cell: str | None = None) -> None:
        """Run kubectl on the course's cluster and print what it says; a cell's body is what ``-f -`` reads."""
        _run(line, lambda argv: lab.kubectl(*argv, stdin=cell))

    @no_var_expand
    def etcd(line: str) -> None:
        """Read the cluster's etcd: %etcd get KEY [--prefix] [--keys-only] [--print-value-only]"""
        _run(line, lambda argv: _etcd(lab, argv))

    @no_var_expand
    def answer(line: str, cell: str) -> None:
        """Keep the rest of the cell as the answer to an exercise: %%answer ID"""
        _run(line, lambda argv: _answer(lab, argv, cell))

    shell.register_magic_function(answer, magic_kind="cell", magic_name="answer")
    shell.register_magic_function(kubectl, magic_kind="line_cell", magic_name="kubectl")
    shell.register_magic_function(etcd, magic_kind="line", magic_name="etcd")
    shell.set_custom_exc((LabkitError,), _show_error)


def _show_error(shell: Any, kind: type[Exception], error: Exception, *_: object, **__: object) -> list[str]:
    lines = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, lines)
    return lines


def parse_etcd(argv: list[str]) -> tuple[str, dict[str, bool]] | str:
    """The key and the flags of an ``etcdctl get`` command line, or, as text, what is wrong with it."""
    words = [word for word in argv if not word.startswith("-")]
    unknown = [word for word in argv if word.startswith("-") and word not in _ETCD_FLAGS]
    if unknown:
        return translate("{flag} is not known here", flag=unknown[0])
    if len(words) != 2 or words[0] != "get":
        return translate("one command, get, and one key are wanted")
    return words[1], {name: flag in argv for flag, name in _ETCD_FLAGS.items()}


def _etcd(lab: Speaks, argv: list[str]) -> None:
    parsed = parse_etcd(argv)
    if isinstance(parsed, str):
        print(translate("etcd: {wrong}; usage: {usage}", wrong=parsed, usage=ETCD_USAGE))
        return
    key, flags = parsed
    lab.etcd(key, **flags)


def _answer(lab: Speaks, argv: list[str], cell: str) -> None:
    if len(argv) != 1:
        print(translate("answer: one exercise is wanted; usage: %%answer ID"))
        return
    lab.answer(argv[0], cell)


def _run(line: str, work: Callable[[list[str]], object]) -> None:
    try:
        argv = shlex.split(line)
    except ValueError as error:
        print(translate("this line cannot be read: {error}", error=error))
        return
    try:
        work(argv)
    except CapabilityMissing as error:
        print(translate("not shown, because {error}", error=error))
    except LabkitError as error:
        print(error)
