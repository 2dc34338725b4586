"""A student's program sees, writes, ends and uses up nothing but its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from labkit.exercises.sandbox import Beginning, Run
from labkit.grading import walls as module
from labkit.grading.errors import GradingError
from labkit.grading.walls import Box, Limits, Walls
from labkit.languages import speaking
from labkit.waiting import Seen, wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
SMALL = Limits(memory=200 << 20, processes=20, room=1 << 20, look_s=0.05)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading needs Linux")


@pytest.fixture(scope="module")
def walls() -> Walls:
    return Walls.find(hidden=(REPOSITORY,), limits=SMALL)


@pytest.fixture
def bubblewrap(walls: Walls) -> Walls:
    if walls.bubblewrap is None:
        pytest.skip(f"no bubblewrap that works here: {'; '.join(walls.missing)}")
    return walls


class FakeProcess:
    def __init__(self, number: int) -> None:
        self.number, self.done = number, list[str]()

    def suspend(self) -> None:
        self.done.append("stopped")

    def kill(self) -> None:
        self.done.append("killed")


def impatient(walls: Walls) -> Walls:
    return replace(walls, limits=replace(walls.limits, script_s=1.0))


def run(walls: Walls, script: str, *argv: str, kubeconfig: Path | None = None) -> Run:
    return walls.runner()(script, argv, kubeconfig)


def told(done: Run) -> object:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_script_runs_with_its_arguments_and_its_kubeconfig(walls: Walls, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1\n")
    kubeconfig.chmod(0o600)
    read = "import json, os, sys\nprint(json.dumps([sys.argv[1:], open(os.environ['KUBECONFIG']).read()]))\n"
    assert told(run(walls, read, "--tout", "a b", kubeconfig=kubeconfig)) == [["--tout", "a b"], "apiVersion: v1\n"]
    ended = run(walls, "import labkit, kubernetes, yaml, sys\nsys.exit(3)")
    assert (ended.exit_code, ended.stderr) == (3, "")


def test_its_environment_has_nothing_of_ours(walls: Walls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("KUBECONFIG", str(Path.home() / ".kube" / "config"))
    seen = told(run(walls, "import json, os\nprint(json.dumps(dict(os.environ)))"))
    assert isinstance(seen, dict)
    assert "hunter2" not in seen.values()
    assert seen["KUBECONFIG"] == os.devnull
    assert seen["HOME"] == seen["TMPDIR"] != os.environ["HOME"]


LOOKS = """
import glob, json, os, sys
found = []
for place in sys.argv[1:]:
    try:
        found.append(sorted(os.listdir(place)) if os.path.isdir(place) else open(place).read())
    except OSError as error:
        found.append(type(error).__name__)
print(json.dumps(found))
"""


def test_the_course_is_not_there(bubblewrap: Walls) -> None:
    rule = REPOSITORY / "exercises" / "02-rule"
    places = [rule, rule / "hidden", rule / "solution.yaml", REPOSITORY / ".git", Path.home() / ".ssh", Path("/home")]
    assert told(run(bubblewrap, LOOKS, *map(str, places))) == ["FileNotFoundError"] * len(places)
    shown = told(run(bubblewrap, LOOKS, str(REPOSITORY)))
    assert isinstance(shown, list)
    assert set(shown[0]) <= {"labkit", Path(sys.prefix).name}, "of the repository only the package, and Python"


def test_what_is_hidden_is_hidden_wherever_it_lies(bubblewrap: Walls, tmp_path: Path) -> None:
    course = tmp_path / "shown" / "course"
    course.mkdir(parents=True)
    (course / "solution.yaml").write_text("secret")
    (tmp_path / "shown" / "text").write_text("seen")
    walls = Walls(bubblewrap=bubblewrap.bubblewrap, uid=bubblewrap.uid, hidden=(course,))
    script = tmp_path / "shown" / "look.py"
    script.write_text(LOOKS)
    box = Box(cwd=Path("/"), home=tmp_path, shown=(tmp_path / "shown",))
    begun = walls.begin((str(script), str(course), str(tmp_path / "shown" / "text")), box)
    assert json.loads(_output(begun)) == [[], "seen"]


def test_what_is_hidden_below_what_is_always_shown_is_hidden_too(bubblewrap: Walls, tmp_path: Path) -> None:
    places = (Path("/usr/share"), Path("/usr/bin/env").resolve())
    script = tmp_path / "look.py"
    script.write_text(LOOKS)
    walls = replace(bubblewrap, hidden=places)
    begun = walls.begin((str(script), *map(str, places)), Box(cwd=Path("/"), home=tmp_path, shown=(script,)))
    folder, file = json.loads(_output(begun))
    assert folder == []
    assert file in ("", "PermissionError"), "a device where no device may be opened"


def test_python_and_labkit_stay_where_what_is_around_them_is_hidden(bubblewrap: Walls) -> None:
    walls = replace(bubblewrap, hidden=(REPOSITORY,))
    box = Box(cwd=Path("/"), home=REPOSITORY, shown=(REPOSITORY.parent,))
    begun = walls.begin(("-m", "labkit.grading.errors"), box)
    assert _output(begun) == ""
    assert "--tmpfs" in begun.argv


def _output(begun: Beginning) -> str:
    return subprocess.run(begun.argv, cwd=begun.cwd, env=begun.env, capture_output=True, text=True, check=True).stdout


WRITES = """
import json, os, sys
wrote = []
for place in sys.argv[1:]:
    try:
        open(os.path.join(place, "new"), "w").close()
        wrote.append(place)
    except OSError:
        pass
print(json.dumps(wrote))
"""


def test_it_writes_in_its_tmp_only_and_not_much(bubblewrap: Walls) -> None:
    places = ["/", "/dev", "/etc", "/usr", "/usr/bin", "/proc", str(Path.home()), str(REPOSITORY)]
    places += [str(REPOSITORY / "labkit")]
    places += [sys.prefix, str(Path(sys.executable).parent), str(Path(shutil.which("kubectl") or "/usr/bin").parent)]
    assert told(run(bubblewrap, WRITES, *places, "/tmp")) == ["/tmp"]
    full = run(bubblewrap, "for n in range(9): open(f'/tmp/{n}', 'wb').write(bytes(300_000))")
    assert "No space left" in full.complaint
    full = run(bubblewrap, "for n in range(9): open(f'/dev/shm/{n}', 'wb').write(bytes(300_000))")
    assert "No space left" in full.complaint


def test_kubectl_is_the_one_of_the_course_whatever_lies_in_its_folders(walls: Walls) -> None:
    fake = "import os, subprocess\nos.makedirs(os.environ['HOME'] + '/bin', exist_ok=True)\n"
    fake += "open(os.environ['HOME'] + '/bin/kubectl', 'w').write('#!/bin/sh\\necho fake')\n"
    look = "import json, os, shutil\nprint(json.dumps([shutil.which('kubectl'), os.environ['HOME']]))"
    (first, home), (second, _) = told(run(walls, fake + look)), told(run(walls, look))
    assert first == second
    assert second != f"{home}/bin/kubectl"


def test_without_a_user_id_of_its_own_it_can_make_no_user_namespace(bubblewrap: Walls) -> None:
    closed = replace(bubblewrap, uid=None, closed=True)
    if closed._trouble():
        assert not bubblewrap.closed
        pytest.skip(f"this bubblewrap cannot: {closed._trouble()}")
    unshares = "import ctypes\nprint(ctypes.CDLL(None).unshare(0x10000000))"
    assert told(run(closed, unshares)) == -1
    assert "bubblewrap: no user namespaces inside" in closed.describe()


def test_it_sees_and_ends_no_other_process(bubblewrap: Walls) -> None:
    script = "import json, os\nprint(json.dumps([int(one) for one in os.listdir('/proc') if one.isdigit()]))"
    seen = told(run(bubblewrap, script))
    assert isinstance(seen, list)
    assert len(seen) <= 3, seen
    attack = "import os, signal\n"
    for pid in ("os.getppid()", str(os.getpid()), "-1"):
        attack += f"try: os.kill({pid}, signal.SIGKILL)\nexcept OSError: pass\n"
    run(bubblewrap, attack)
    assert psutil.Process().is_running()
    assert told(run(bubblewrap, "print(1)")) == 1


def test_a_fork_bomb_ends_at_the_number_of_processes(walls: Walls) -> None:
    bomb = "import os\ncount = 0\ntry:\n    while True:\n        if os.fork() == 0:\n            import time\n"
    bomb += "            time.sleep(60)\n        count += 1\nexcept OSError:\n    print(count, flush=True)\n"
    if walls.uid is None and os.geteuid() == 0:
        pytest.skip("without a user id of its own the number of processes does not bind root")
    done = run(walls, bomb)
    assert int(done.stdout.splitlines()[0]) < SMALL.processes
    assert not _left("sleep(60)"), "and the group is ended as a whole"


def _left(marker: str) -> list[int]:
    others = (one for one in psutil.process_iter(["cmdline"]) if one.pid != os.getpid())
    return [one.pid for one in others if any(marker in word for word in one.info["cmdline"] or ())]


def test_memory_is_counted_over_all_its_processes(walls: Walls) -> None:
    hog = "import os, sys\nfor _ in range(4):\n    if os.fork() == 0:\n        break\nx = b'x' * (60 << 20)\n"
    hog += "import time\nwhile True: time.sleep(1)\n"
    done = run(walls, hog)
    assert done.exit_code not in (0, None)
    assert "more than 200 MiB of memory together" in done.complaint


def test_memory_that_its_processes_share_counts_once(walls: Walls) -> None:
    shares = "import os, sys, time\nx = b'x' * (60 << 20)\nfor _ in range(4):\n    if os.fork() == 0:\n        break\n"
    done = run(walls, shares + "time.sleep(2)\n")
    assert (done.exit_code, done.stderr) == (0, "")


def test_a_cluster_that_grows_over_its_limits_is_ended(walls: Walls, tmp_path: Path) -> None:
    hog = [sys.executable, "-c", "import time\nx = b'x' * (100 << 20)\ntime.sleep(600)"]
    (tmp_path / "db").write_bytes(bytes(2 << 20))
    for more, words in (
        ({"cluster_memory": 50 << 20}, "the submission's cluster was ended: more than 50 MiB of memory"),
        ({"cluster_room": 1 << 20}, "the submission's cluster was ended: more than 1 MiB on the disk"),
    ):
        small = replace(walls, limits=replace(SMALL, **more))
        with subprocess.Popen(hog) as process, small.watch_cluster(process.pid, tmp_path) as told:
            assert process.wait(60) == -signal.SIGKILL
        assert told == [words]


def test_what_starts_others_while_it_is_ended_leaves_none() -> None:
    seen = [[FakeProcess(1)], [FakeProcess(1), FakeProcess(2)], [FakeProcess(1), FakeProcess(2), FakeProcess(3)]]
    there = {one.number: one for one in seen[-1]}
    turns = iter([[there[one.number] for one in each] for each in (*seen, seen[-1])])
    module._kill(lambda: next(turns))  # type: ignore[arg-type]
    assert [one.done for one in there.values()] == [["stopped", "killed"]] * 3


def test_a_loop_that_ignores_signals_ends_with_all_it_started(walls: Walls) -> None:
    loop = "import os, signal, subprocess, sys\nfor one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
    loop += "    signal.signal(one, signal.SIG_IGN)\nif os.fork() == 0:\n    os.setsid()\n"
    loop += "mark = [sys.executable, '-c', 'while True: pass # labkit-left-over']\n"
    loop += "subprocess.Popen(mark, start_new_session=True)\nwhile True: pass\n"
    assert run(impatient(walls), loop).exit_code is None
    if walls.bubblewrap is not None or walls.uid is not None:
        assert not _left("labkit-left-over")


def test_endless_output_ends_and_is_cut(walls: Walls) -> None:
    done = run(walls, "while True: print('x' * 1000)")
    assert done.exit_code != 0
    assert 0 < len(done.stdout) <= 200_000


def test_walls_that_fail_are_no_failure_of_the_script(walls: Walls, tmp_path: Path) -> None:
    full = tmp_path / "bwrap"
    full.write_text("#!/bin/sh\necho 'bwrap: Cannot mkdir: No space left on device' >&2\nexit 1\n")
    full.chmod(0o755)
    with pytest.raises(OSError, match=r"could not be started: bwrap: .*No space left"):
        run(replace(walls, bubblewrap=full), "print(1)")
    if os.geteuid() == 0:
        with pytest.raises(OSError, match="could not be started"):
            run(replace(walls, bubblewrap=None, uid=2**32 - 1), "print(1)")


def test_processor_time_is_limited_and_waiting_is_not_counted(walls: Walls) -> None:
    short = replace(walls, limits=replace(walls.limits, script_cpu_s=1))
    assert run(short, "while True: pass").exit_code is None
    waits = run(short, "import sys, time\ntime.sleep(1.5)\nprint('waited', file=sys.stderr)")
    assert (waits.exit_code, waits.stderr) == (0, "waited\n")


def test_what_holds_is_said_in_words(walls: Walls) -> None:
    lines = walls.describe()
    assert lines == Walls.find(hidden=(REPOSITORY,), limits=SMALL).describe()
    assert "at most 200 MiB of memory together, 20 processes, 32 MiB a file" in lines
    assert any("network" in line and line.startswith("missing") for line in lines)


def test_two_jobs_have_user_ids_of_their_own() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give user ids")
    assert len({module._unused_uid(slot) for slot in range(3)}) == 3


def test_without_bubblewrap_it_still_runs_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name == "bwrap" else f"/usr/bin/{name}")
    walls = Walls.find(limits=SMALL, do_without=True)
    assert walls.bubblewrap is None
    assert "missing: bubblewrap is not installed" in walls.describe()
    assert any("processes of its own" in line for line in walls.describe())
    assert told(run(walls, "print(1)")) == 1
    assert (
        run(impatient(walls), "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass").exit_code
        is None
    )


def test_nothing_runs_as_root_without_walls_unless_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name == "bwrap" else f"/usr/bin/{name}")
    monkeypatch.setattr(module, "_unused_uid", lambda _: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(GradingError, match="as root, with nothing to hold them: bubblewrap is not installed"):
        Walls.find(limits=SMALL)
    assert Walls.find(limits=SMALL, do_without=True).missing == ("bubblewrap is not installed",)


def test_a_bubblewrap_that_is_refused_is_found_out_by_trying(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refused = tmp_path / "bwrap"
    refused.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    refused.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _name, **_: str(refused))
    walls = Walls.find(limits=SMALL, do_without=True)
    assert walls.bubblewrap is None
    assert any("setting up uid map: Permission denied" in line for line in walls.describe())


def test_what_ended_a_program_is_said_in_the_language_of_the_class() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as process:
        walls = Walls(limits=replace(SMALL, memory=1))
        with speaking("fr"), walls.watch(process) as told:
            wait_for("it to be ended", lambda: Seen(bool(told), "it runs"), limit_s=20.0)
        process.kill()
    assert told[0] == "arrêté\N{NO-BREAK SPACE}: plus de 0 MiB de mémoire ensemble"
