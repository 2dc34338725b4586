"""The walls around what students wrote: what a program sees, may write and may use up, on a machine as it is.

A student's program runs beside the grader: it would find the solutions, other people's work and the grade book, could
end the grader's processes, fill its memory or its disk. With bubblewrap it gets a file system made for it (this Python,
labkit's package, kubectl and what it works on, all read-only; a small /tmp), processes of its own, and an environment
made from nothing. Resource limits hold for one process each and, as the number of processes does not bind root, root
gives a job's programs a user id of their own; the memory of all of them together is watched from outside.

Not every machine has all of it (Ubuntu refuses user namespaces to programs it does not know, a container's root may not
change user ids), so what is there is tried once, really, and said in words. The network is always shared: the
submission's own API server is on loopback. All paths are the same inside and outside.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

import labkit
from labkit.cluster import system, tools
from labkit.exercises.sandbox import BEGUN, Beginning, Run, Runner, limited, run_begun
from labkit.grading import strays
from labkit.grading.errors import GradingError
from labkit.languages import translate

__all__ = ["LIMITS", "Box", "Limits", "Walls"]

_FIXED = tuple(map(Path, ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin")))
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "hosts", "nsswitch.conf")
_MADE = {Path("/"), Path("/usr"), Path("/tmp")}  # noqa: S108  (its own)
_TRIAL_S = 30.0
_ROUNDS = 50
_TRIAL = "import threading, labkit\none = threading.Thread(target=print)\none.start()\none.join()\n"


@dataclass(frozen=True)
class Limits:
    """Bytes, numbers and seconds. *memory* is of all processes together; *address_space* of each; *room* of each place
    that may be written (with bubblewrap); *file* of a file. *cluster_memory* and *cluster_room* (disk) are of
    the control plane that its programs have all rights in.
    """

    memory: int = 1 << 30
    cluster_memory: int = 1 << 30
    cluster_room: int = 512 << 20
    address_space: int = 8 << 30
    processes: int = 128
    open_files: int = 512
    file: int = 32 << 20
    room: int = 64 << 20
    script_cpu_s: int = 20
    script_s: float = 60.0
    look_s: float = 0.5


LIMITS = Limits()


@dataclass(frozen=True)
class Box:
    """What one program is given beside Python, labkit and kubectl.

    *shown* may be read. *writable* are empty folders: with bubblewrap they have a limited size and go with the program,
    else they are the folders themselves. *home* serves as HOME and TMPDIR where there is no /tmp of its own. *env* is
    added to an environment made from nothing.
    """

    cwd: Path
    home: Path
    shown: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Walls:
    """What holds a student's program here. *bubblewrap* is its path, *uid* the user id its programs have, or None.

    *missing* says in words what this machine does not let us do. *hidden* are folders that are never shown, wherever
    they lie (the course, above all). *closed*: no program inside can make a user namespace of its own, where it would
    have more of the kernel before it; bubblewrap can do that only for who keeps its user id.
    """

    bubblewrap: Path | None = None
    uid: int | None = None
    missing: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    limits: Limits = LIMITS
    closed: bool = False

    @classmethod
    def find(
        cls, slot: int = 0, *, hidden: Iterable[Path] = (), limits: Limits = LIMITS, do_without: bool = False
    ) -> Walls:
        """The best walls that work, each tried with a real program. *slot* numbers the jobs that run at once.

        Raises GradingError when nothing but root's own rights would be left, unless *do_without*; OSError when even a
        bare process cannot be run.
        """
        there = shutil.which("bwrap")
        program = Path(there) if there else None
        uid = _unused_uid(slot) if os.geteuid() == 0 else None
        bare = cls(hidden=tuple(path.resolve() for path in hidden), limits=limits)
        missing = [] if program else ["bubblewrap is not installed"]
        ways = [(program, uid, False), (program, None, True), (program, None, False), (None, uid, False)]
        for with_program, with_uid, closed in dict.fromkeys(ways if uid is not None else ways[1:]):
            if with_program is None and with_uid is None:
                continue
            if with_program is None and program is not None and uid is None:
                continue
            walls = replace(bare, bubblewrap=with_program, uid=with_uid, closed=closed)
            trouble = walls._trouble()
            if not trouble:
                return replace(walls, missing=tuple(missing))
            missing.append(f"{walls._name()} does not work here: {trouble}")
        if os.geteuid() == 0 and not do_without:
            raise GradingError(
                "students' programs would run here as root, with nothing to hold them",
                evidence="; ".join(missing),
                next_act="install bubblewrap (apt install bubblewrap), or grade as another user than root; "
                "--without-walls runs them all the same",
            )
        walls = replace(bare, missing=tuple(missing))
        trouble = walls._trouble()
        if trouble:
            raise OSError(f"this Python cannot be run as a process of its own: {trouble}")
        return walls

    def describe(self) -> tuple[str, ...]:
        """What holds here, and what is missing, a line each; the same on the same machine."""
        limits = self.limits
        lines = []
        if self.bubblewrap is not None:
            lines += [
                "bubblewrap: a file system of its own (Python, labkit, kubectl and its work, read-only)",
                "bubblewrap: processes of its own; it sees and ends no other",
                "bubblewrap: no user namespaces inside" if self.closed else "missing: a ban on user namespaces inside",
                f"bubblewrap: at most {limits.room >> 20} MiB in each place it may write",
            ]
        else:
            lines += [
                "missing: a file system of its own; it reads what its user may read, the exercises' folder too",
                "missing: processes of its own; it sees those of others, and ends those of its user",
            ]
        if self.uid is not None:
            lines.append("a user id of its own")
        elif os.geteuid() == 0:
            lines.append("missing: a user id of its own; it runs as root, so the number of processes is not limited")
        lines += [
            f"at most {limits.memory >> 20} MiB of memory together, {limits.processes} processes, "
            f"{limits.file >> 20} MiB a file",
            "an environment made from nothing",
            "missing: a network of its own; the submission's API server is on loopback",
        ]
        return (*lines, *(f"missing: {one}" for one in self.missing))

    # -- starting a program -------------------------------------------------------------------------------------------

    def begin(
        self, program: Sequence[str], box: Box, *, more: Mapping[str, int] | None = None, mark: str = ""
    ) -> Beginning:
        """How to start *program* inside (*mark* as in ``sandbox.limited``). *more* are further limits by ``resource``'s
        names.

        The argv holds everything, the environment too: what starts it may add variables of its own, none gets in.
        """
        limits = {
            "RLIMIT_CORE": 0,
            "RLIMIT_AS": self.limits.address_space,
            "RLIMIT_FSIZE": self.limits.file,
            "RLIMIT_NOFILE": self.limits.open_files,
            "RLIMIT_NPROC": self.limits.processes + self._threads_beside(),
            **(more or {}),
        }
        inner = limited(program, limits, uid=self.uid, cwd=box.cwd, mark=mark)
        env = self._environment(box)
        if self.bubblewrap is None:
            said = [f"{name}={value}" for name, value in sorted(env.items())]
            return Beginning(("/usr/bin/env", "-i", *said, *inner), {}, box.cwd)
        return Beginning((*self._bubblewrap(self.bubblewrap, box, env), "--", *inner), {}, Path("/"))

    def give(self, *paths: Path) -> None:
        """Let programs inside read *paths*, and write them where no file system of their own forbids it."""
        if self.uid is None:
            return
        for path in paths:
            for one in (path, *(path.rglob("*") if path.is_dir() else ())):
                os.chown(one, self.uid, self.uid, follow_symlinks=False)

    def runner(self) -> Runner:
        """Runs a script's text inside, for ``checks.check``. Its kubeconfig is a copy beside the script."""

        def run(script: str, argv: tuple[str, ...], kubeconfig: Path | None) -> Run:
            def begun(folder: Path, path: Path) -> Beginning:
                env: tuple[tuple[str, str], ...] = (("KUBECONFIG", os.devnull),)
                shown = [path]
                if kubeconfig is not None:
                    copy = folder / "kubeconfig"
                    shutil.copyfile(kubeconfig, copy)
                    shown.append(copy)
                    env = (("KUBECONFIG", str(copy)),)
                self.give(folder)
                box = Box(cwd=folder, home=folder, shown=tuple(shown), env=env)
                if self.bubblewrap is not None:
                    box = replace(box, cwd=Path("/tmp"))  # noqa: S108  (its own)
                more = {"RLIMIT_CPU": self.limits.script_cpu_s}
                return self.begin((str(path), *argv), box, more=more, mark=BEGUN)

            return run_begun(script, begun, limit_s=self.limits.script_s, watch=self.watch, end=self.end)

        return run

    # -- while it runs, and after -------------------------------------------------------------------------------------

    @contextmanager
    def watch(self, process: subprocess.Popen[bytes], *, spare: bool = False) -> Iterator[list[str]]:
        """For the time of the block, end *process* and all it started when their memory together is over the limit.

        With *spare* the process itself is one of ours: it is neither counted nor ended. Gives a list that then says
        what happened.
        """
        told: list[str] = []
        words = translate("ended: more than {n} MiB of memory together", n=self.limits.memory >> 20)

        def inside() -> list[psutil.Process]:
            return self._inside(process.pid, spare=spare)

        def look() -> None:
            if _larger(inside(), self.limits.memory):
                told.append(words)
                _kill(inside)

        with _again_and_again(look, self.limits.look_s):
            yield told

    @contextmanager
    def watch_cluster(self, pid: int, state: Path) -> Iterator[list[str]]:
        """For the time of the block, end the control plane *pid* when it is over its limit of memory, or *state* on the
        disk. Gives a list that then says what happened.
        """
        told: list[str] = []
        limits = self.limits
        memory = translate(
            "the submission's cluster was ended: more than {n} MiB of memory", n=limits.cluster_memory >> 20
        )
        room = translate(
            "the submission's cluster was ended: more than {n} MiB on the disk", n=limits.cluster_room >> 20
        )
        there = [psutil.Process(pid)] if psutil.pid_exists(pid) else []

        def look() -> None:
            if told:
                return
            told.extend([memory] if _larger(there, limits.cluster_memory) else [])
            told.extend([room] if _on_disk(state) > limits.cluster_room else [])
            if told:
                _kill(lambda: there)

        with _again_and_again(look, limits.look_s):
            yield told

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End *process* and all it started, as far as they can be found."""
        _kill(lambda: self._inside(process.pid))
        system.end_group(process)
        if self.bubblewrap is None and self.uid is not None:
            uid = self.uid
            _kill(lambda: _of_user(uid))

    # -- the parts ----------------------------------------------------------------------------------------------------

    def _inside(self, pid: int, *, spare: bool = False) -> list[psutil.Process]:
        try:
            root = psutil.Process(pid)
            found = root.children(recursive=True) + ([] if spare else [root])
        except psutil.Error:
            found = []
        if self.bubblewrap is None and self.uid is not None:
            found += [one for one in _of_user(self.uid) if one not in found]  # what left its parent
        return found

    def _threads_beside(self) -> int:
        """What counts against the limit and is not ours: all a person's own, where a program is one of them."""
        if self.uid is not None or self.bubblewrap is not None:
            return 0
        count = 0
        for one in _of_user(os.geteuid()):
            with contextlib.suppress(psutil.Error):
                count += one.num_threads()
        return count

    def _environment(self, box: Box) -> dict[str, str]:
        home = str(box.home) if self.bubblewrap is None else "/tmp"  # noqa: S108  (its own)
        programs = (tools.find_kubectl().parent, Path(sys.prefix) / "bin", Path("/usr/bin"), Path("/bin"))
        return {
            "PATH": os.pathsep.join(dict.fromkeys(map(str, programs))),
            "HOME": home,
            "TMPDIR": home,
            "USER": "student",
            "LOGNAME": "student",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "KUBERC": "off",
            "KUBECACHEDIR": f"{home}/kubectl-cache",
            "IPYTHONDIR": f"{home}/ipython",
            "MPLCONFIGDIR": f"{home}/matplotlib",
            "PYTHONPATH": str(_package().parent),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            **dict(box.env),
        }

    def _bubblewrap(self, program: Path, box: Box, env: Mapping[str, str]) -> list[str]:
        size = ["--size", str(self.limits.room), "--perms", "1777", "--tmpfs"]
        argv = [str(program), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", "labkit"]
        argv += ["--unshare-user", "--disable-userns"] if self.closed else []
        argv += ["--die-with-parent", "--new-session", "--clearenv"]
        if os.geteuid() == 0:
            keep = ("CAP_SETUID", "CAP_SETGID") if self.uid is not None else ()
            argv += ["--cap-drop", "ALL", *(word for one in keep for word in ("--cap-add", one))]
        for path in _FIXED:
            if path.is_symlink():
                argv += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                argv += ["--ro-bind", str(path), str(path)]
        argv += ["--perms", "0755", "--dir", "/etc"]
        for name in _ETC:
            argv += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        argv += ["--proc", "/proc", "--dev", "/dev", *size, "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
        argv += [*size, "/tmp"]  # noqa: S108  (its own)
        argv += self._places(box)
        for name, value in sorted(env.items()):
            argv += ["--setenv", name, value]
        return [*argv, "--remount-ro", "/"]

    def _places(self, box: Box) -> list[str]:
        """Python's folders, labkit, kubectl and what *box* has, what lies in another after it; nothing of *hidden*."""
        shown = [*_prefixes(self.hidden), _package(), tools.find_kubectl().resolve(), tools.find_kubectl(), *box.shown]
        ways = {path: ["--ro-bind", str(path), str(path)] for path in shown}
        covered = [path for path in self.hidden if any(_within(path, one) for one in (*_FIXED, *ways))]
        ways |= {path: ["--tmpfs", str(path)] for path in covered if path.is_dir()}
        ways |= {path: ["--ro-bind", os.devnull, str(path)] for path in covered if path.is_file()}
        room = ["--size", str(self.limits.room), "--perms", "1777", "--tmpfs"]
        ways |= {path: [*room, str(path)] for path in box.writable}
        argv: list[str] = []
        made = set(_MADE)
        for path in sorted(ways, key=lambda one: len(one.parts)):
            for parent in reversed(path.parents):
                around = max(
                    (one for one in ways if _within(parent, one)), key=lambda one: len(one.parts), default=None
                )
                if parent not in made and (around is None or (around in covered and around != parent)):
                    argv += ["--perms", "0755", "--dir", str(parent)]  # else it would be for its owner alone
                    made.add(parent)
            argv += ways[path]
        return [*argv, *(word for path in covered if path.is_dir() for word in ("--remount-ro", str(path)))]

    def _trouble(self) -> str:
        """Why a program cannot be run inside; empty when it can."""
        with tempfile.TemporaryDirectory(prefix=f"{strays.PREFIX}{os.getpid()}-") as name:
            folder = Path(name)
            path = folder / "trial.py"
            path.write_text(_TRIAL, encoding="utf-8")
            try:
                self.give(folder)
                box = Box(cwd=Path("/") if self.bubblewrap else folder, home=folder, shown=(path,))
                how = self.begin((str(path),), box)
                subprocess.run(
                    how.argv, cwd=how.cwd, env=how.env, capture_output=True, text=True, timeout=_TRIAL_S, check=True
                )
            except subprocess.CalledProcessError as error:
                lines = error.stderr.strip().splitlines()
                return (lines[-1] if lines else f"exit status {error.returncode}").replace(name, "TMP")
            except (OSError, subprocess.SubprocessError) as error:
                return str(error).replace(name, "TMP")
        return ""

    def _name(self) -> str:
        if self.bubblewrap is None:
            return "a user id of its own"
        if self.closed:
            return "bubblewrap without user namespaces inside"
        return "bubblewrap" if self.uid is None else "bubblewrap with a user id of its own"


def _unused_uid(slot: int) -> int | None:
    """The *slot*-th user id that nobody has here; None when this process may not have it at all."""
    free = []
    for uid in strays.UIDS:
        try:
            pwd.getpwuid(uid)
        except KeyError:
            free.append(uid)
        if len(free) > slot:
            return free[slot]
    return None


def _package() -> Path:
    return Path(labkit.__file__).resolve().parent


def _prefixes(hidden: Iterable[Path] = ()) -> list[Path]:
    """The folders this Python is made of; of those in /usr, which is shown anyway, the ones in a *hidden* folder."""
    named = {Path(one) for one in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)}
    every = named | {one.resolve() for one in named}
    inside = {one for one in every for folder in hidden if _within(one, folder)}
    return [one for one in sorted(every) if one in inside or not _within(one, Path("/usr"))]


def _within(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _of_user(uid: int) -> list[psutil.Process]:
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if one.uids().real == uid:
                found.append(one)
    return found


@contextmanager
def _again_and_again(look: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call *look* every so often, in a thread, for the time of the block."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(every_s):
            look()

    thread = threading.Thread(target=loop, name="labkit-walls", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _larger(processes: Sequence[psutil.Process], limit: int) -> bool:
    """Whether they use more than *limit* bytes together. What they share counts once, where that can be told;
    to tell it takes long, so it is done only when it decides."""
    return sum(map(_resident, processes)) > limit and sum(map(_proportional, processes)) > limit


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _proportional(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.Error, OSError):
        return _resident(process)


def _on_disk(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def _kill(find: Callable[[], Iterable[psutil.Process]]) -> None:
    """Kill what *find* finds. All are stopped first, and it looks again until there is no other, so that none can start
    one meanwhile."""
    stopped: list[psutil.Process] = []
    for _ in range(_ROUNDS):
        others = [one for one in find() if one not in stopped]
        if not others:
            break
        for one in others:
            with contextlib.suppress(psutil.Error):
                one.suspend()
        stopped += others
    for one in stopped:
        with contextlib.suppress(psutil.Error):
            one.kill()
