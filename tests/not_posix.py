"""labkit as it sees a system that is not POSIX, on one that is: a pytest plugin, and a program.

    python -m tests.not_posix MODULE...            imports modules so
    python -m pytest -p tests.not_posix TESTS...   runs the tests of TESTS that need no cluster so

Nobody here has Windows. Python's standard library chooses its own branches when it is imported, so it cannot be made
to believe in another system. But an import statement can be answered by who asks: modules of labkit are told that
``sys.platform`` is "win32", that ``fcntl`` and its like do not exist, and get ``os``, ``signal`` and ``socket`` without
the names that only POSIX has. All others, the standard library among them, see what is there. Of the names that only
Windows has, those that labkit uses stand for what comes nearest to them here, so that its branches run.

What this cannot show: how calls behave that exist on both systems (``os.replace`` of an open file, ``os.kill`` with 0,
paths, encodings of a console), and whether Windows does what its documentation says.
"""

from __future__ import annotations

import builtins
import importlib
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

MODULES = frozenset(
    [
        "crypt",
        "fcntl",
        "grp",
        "nis",
        "ossaudiodev",
        "posix",
        "pty",
        "pwd",
        "readline",
        "resource",
        "spwd",
        "syslog",
        "termios",
        "tty",
        "curses",
    ]
)
"""Modules of the standard library that Windows has not."""

_SIGNALS = """SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGTTIN
SIGTTOU
SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ alarm pause pthread_kill pthread_sigmask setitimer
getitimer siginterrupt sigpending sigtimedwait sigwait sigwaitinfo SIG_BLOCK SIG_SETMASK SIG_UNBLOCK"""
_OS = """chown chroot confstr ctermid eventfd fchdir fchmod fchown fork forkpty fpathconf fstatvfs getegid geteuid
getgid
getgrouplist getgroups getloadavg getpgid getpgrp getpriority getresgid getresuid getsid getuid getxattr initgroups
killpg lchown listxattr lockf major makedev memfd_create minor mkfifo mknod nice openpty pathconf pidfd_open pipe2
posix_fadvise posix_fallocate posix_spawn pread preadv pwrite pwritev readv removexattr sched_getaffinity
sched_setaffinity sched_yield sendfile setegid seteuid setgid setgroups setpgid setpriority setregid setresgid setresuid
setreuid setsid setuid setxattr splice statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid
writev WNOHANG O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC O_TMPFILE"""
_SOCKET = "AF_UNIX AF_NETLINK AF_PACKET CMSG_LEN CMSG_SPACE SCM_RIGHTS SO_PEERCRED SO_REUSEPORT"

NAMES: Mapping[str, frozenset[str]] = {
    "os": frozenset(_OS.split()),
    "signal": frozenset(_SIGNALS.split()),
    "socket": frozenset(_SOCKET.split()),
    "select": frozenset(["epoll", "kqueue", "poll"]),
    "time": frozenset(["tzset", "pthread_getcpuclockid"]),
    "asyncio": frozenset(["open_unix_connection", "start_unix_server"]),
}
"""By module, names that only POSIX has."""

_TOLD: Mapping[str, Mapping[str, object]] = {
    "sys": {"platform": "win32"},
    "os": {"name": "nt", "O_BINARY": 0, "O_TEMPORARY": 0},
    "signal": {"CTRL_BREAK_EVENT": signal.SIGTERM},
    "subprocess": {"CREATE_NEW_PROCESS_GROUP": 0},
}
"""By module, what it has on Windows: where it is called, what comes nearest to it here."""


class Without(ModuleType):
    """A module as Windows has it, as far as names go; all else, also what is set, is the real module's."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__)
        self.__dict__["_real"] = real

    def __getattr__(self, name: str) -> Any:
        real: ModuleType = self.__dict__["_real"]
        if name in NAMES.get(real.__name__, ()):
            raise AttributeError(f"module {real.__name__!r} has no attribute {name!r} (hidden: only POSIX has it)")
        told = _TOLD.get(real.__name__, {})
        return told[name] if name in told else getattr(real, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_real"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_real"], name)


def _msvcrt() -> ModuleType:
    """As much of it as labkit calls: a lock that another process has is an OSError."""
    import fcntl

    module = ModuleType("msvcrt")
    module.__dict__["LK_NBLCK"] = fcntl.LOCK_EX | fcntl.LOCK_NB
    module.__dict__["locking"] = lambda descriptor, mode, _size: fcntl.flock(descriptor, mode)
    return module


def hide(package: str = "labkit") -> None:
    """From now on, in this process, modules of *package* import what Windows would give them."""
    original = builtins.__import__

    def answer(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        asker = str((globals or {}).get("__name__", ""))
        if level == 0 and (asker == package or asker.startswith(f"{package}.")):
            if name.partition(".")[0] in MODULES:
                raise ModuleNotFoundError(
                    f"No module named {name!r} (hidden from {asker}: only POSIX has it)", name=name
                )
            if name == "msvcrt":
                return _msvcrt()
            if name in NAMES or name in _TOLD:
                return Without(original(name, globals, locals, fromlist, level))
        return original(name, globals, locals, fromlist, level)

    builtins.__import__ = answer


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before any conftest imports labkit."""
    early = sorted(name for name in sys.modules if name.startswith("labkit."))
    if early:
        raise pytest.UsageError(f"imported before anything was hidden: {', '.join(early[:3])}")
    hide()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out tests of grading, which is for Linux (None: let others decide)."""
    return (collection_path.suffix == ".py" and "labkit.grading" in collection_path.read_text("utf-8")) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what asks for a running cluster: that is minutes."""
    needs = {"cluster", "kubectl"}
    out = [item for item in items if needs & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in out]


if __name__ == "__main__":
    hide()
    for module in sys.argv[1:]:
        importlib.import_module(module)
