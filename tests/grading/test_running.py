"""Whatever a cell does, it costs its own notebook at most, and what is kept of it does nothing."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from labkit.cluster import Api, Owner
from labkit.cluster.embedded import EmbeddedCluster
from labkit.exercises.model import load_all
from labkit.grading.graft import sources
from labkit.grading.running import ExerciseRun, Limits, Running
from labkit.grading.values import Answer
from labkit.grading.walls import Limits as Room
from labkit.grading.walls import Walls
from tests.exercises import sample

ROOM = Room(memory=400 << 20, processes=60, look_s=0.1)


@dataclass
class Course:
    root: Path
    source: dict[str, Any]
    walls: Walls


@pytest.fixture(scope="module")
def course(cluster: EmbeddedCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    folder = tmp_path_factory.mktemp("course")
    root = folder / "course"
    sample.make(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABKIT_HOME", str(folder / "home"))
        made = sources(load_all(root), root, lambda: nullcontext(cluster))
        yield Course(root, made["limit"], Walls.find(hidden=(root, sample.REPOSITORY), limits=ROOM))


def play(
    course: Course, cluster: EmbeddedCluster, cells: Mapping[str, str], *, check: bool = False, **limits: float
) -> dict[str, ExerciseRun]:
    """A notebook for each of *cells*; without *check* only the cell itself and one after it."""
    made = {}
    for key in cells:
        made[key] = copy.deepcopy(course.source)
        answer = next(cell for cell in made[key]["cells"] if cell["id"] == "limit")
        answer["metadata"]["nbgrader"]["grade_id"] = answer["id"] = key
        if not check:
            after = {**answer, "id": f"{key}-after", "metadata": {"tags": []}, "source": "print('after')"}
            after["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "after\n"}]
            made[key]["cells"] = [answer, after]
    with Running(course.root, made, course.walls, limits=replace(Limits(), **limits)) as running:  # type: ignore[arg-type]
        return running.run([Answer(key, cell, cell) for key, cell in cells.items()], cluster)


def statuses(run: ExerciseRun) -> list[str]:
    return [one.status for one in run.cells]


def outputs(run: ExerciseRun, number: int = 0) -> str:
    assert run.notebook is not None
    code = [cell for cell in run.notebook["cells"] if cell["cell_type"] == "code"]
    return json.dumps(code[number]["outputs"])


def test_a_right_answer_is_green_and_a_wrong_one_is_not(course: Course, cluster: EmbeddedCluster) -> None:
    wrong = sample.with_rule("self.worker.max <= 5 * self.api.replicas")
    cells = {"limit": f"%%answer limit\n{sample.solution()}"}
    run = play(course, cluster, cells, check=True)["limit"]
    assert [(one.grade_id, one.status) for one in run.cells] == [
        ("exercises-begin", "passed"),
        ("limit", "passed"),
        ("limit-check", "passed"),
    ]
    assert run.notes == ()
    assert "3 of 3" in outputs(run, 2)
    assert "text/html" not in outputs(run, 2)
    again = play(course, cluster, cells, check=True)["limit"]
    assert again == run, "the same answer brings the same, to the last byte"
    missed = play(course, cluster, {"limit": f"%%answer limit\n{wrong}\n# NBVAL_SKIP\n"}, check=True)["limit"]
    assert statuses(missed) == ["passed", "passed", "failed"]
    assert missed.cells[2].words == "its output is not what the instructor's answer brings"
    assert "five workers and one replica" in outputs(missed, 2)


ATTACKS = {
    "exit": "import os\nos._exit(0)",
    "kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "flood": "while True: print('x' * 1000)",
    "one": "print('x' * 50_000_000)",
    "raise": "raise ValueError('\\x1b[31mred\\x1b[0m\\x07 ' + 'y' * 1000)",
    "syntax": "this is no Python",
    "after": "print('still here')",
}


def test_each_attack_costs_its_own_notebook_only(course: Course, cluster: EmbeddedCluster) -> None:
    runs = play(course, cluster, ATTACKS, cell_s=3600.0)  # a dead kernel is not waited for
    seen = {key: statuses(run) for key, run in runs.items()}
    assert seen == {
        "exit": ["died", "not-run"],
        "kill": ["died", "not-run"],
        "flood": ["too-much-output", "not-run"],
        "one": ["too-much-output", "not-run"],
        "raise": ["failed", "passed"],
        "syntax": ["failed", "passed"],
        "after": ["passed", "passed"],
    }
    assert runs["exit"].cells[0].words == "the kernel died in this cell"
    flood = runs["flood"].cells[0]
    assert (flood.words, flood.said) == ("the cell sent more than is taken", "1000000 bytes")
    assert runs["raise"].cells[0].words == "", "what a program says is not ours to translate"
    assert runs["raise"].cells[0].said.startswith("ValueError: red\N{REPLACEMENT CHARACTER} yyy")
    assert runs["syntax"].cells[0].said.startswith("SyntaxError: ")
    assert "\\u001b" not in outputs(runs["raise"])
    assert outputs(runs["flood"]) == "[]"


def test_a_loop_that_ignores_signals_is_stopped_at_the_limit(course: Course, cluster: EmbeddedCluster) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    talks = "import threading, time\n"
    talks += "def talk():\n    while True:\n        print('.', flush=True)\n        time.sleep(0.1)\n"
    talks += "threading.Thread(target=talk).start()\nwhile True:\n    try:\n        while True: time.sleep(1)\n"
    talks += "    except KeyboardInterrupt: pass"
    runs = play(course, cluster, {"deaf": deaf, "talks": talks, "slow": "while True: pass", "x": "1"}, cell_s=3.0)
    assert [statuses(runs[key]) for key in ("deaf", "talks", "slow")] == [["hung", "not-run"]] * 3, runs
    assert statuses(runs["x"]) == ["passed", "passed"]
    assert runs["deaf"].cells[0].words == "the cell was still running at its limit and was stopped"


def test_the_whole_run_has_a_limit(course: Course, cluster: EmbeddedCluster) -> None:
    runs = play(course, cluster, {"a": "while True: pass", "b": "1"}, run_s=3.0)
    assert [statuses(runs[key]) for key in ("a", "b")] == [["not-run", "not-run"]] * 2
    assert runs["b"].notes[0].code == "run-limit"
    assert runs["b"].cells[0].words == "the run ended before this cell"


def test_a_memory_hog_and_a_fork_bomb_end_with_their_notebook(course: Course, cluster: EmbeddedCluster) -> None:
    hog = "import os\nfor _ in range(4):\n    if os.fork() == 0: break\nx = b'x' * (150 << 20)\nwhile True: pass"
    bomb = "import os\nwhile True:\n    try:\n        if os.fork() == 0:\n            while True: pass\n"
    bomb += "    except OSError:\n        print('refused', flush=True)\n        break\n"
    runs = play(course, cluster, {"hog": hog, "bomb": bomb, "x": "1"}, cell_s=60.0)
    assert statuses(runs["hog"]) == ["died", "not-run"]
    assert runs["hog"].notes[0].text == "ended: more than 400 MiB of memory together"
    assert statuses(runs["x"]) == ["passed", "passed"]
    assert runs["bomb"].cells[0].status in ("passed", "failed", "died")
    if runs["bomb"].cells[0].status == "passed":
        assert "refused" in outputs(runs["bomb"])
    there = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
    assert not [one for one in there if str(course.root.parent) in " ".join(one)]


LOOKS = """
import glob, json, os
me = os.getcwd()
seen = [os.path.exists(place) for place in PLACES]
wrote = []
for place in (*PLACES, me, me + "/answers", os.path.expanduser("~")):
    try:
        open(place + "/new", "w").close()
        wrote.append(place.replace(me, "HERE"))
    except OSError:
        pass
names = sorted(name for name in glob.glob(me + "/../**", recursive=True) if os.path.isfile(name))
print(json.dumps([seen, wrote, [os.path.relpath(one, me) for one in names if "/crd/" not in one]]))
print(json.dumps(sorted(os.environ)))
print([one for one in os.listdir("/proc") if one.isdigit()], os.getppid())
"""


def test_it_sees_a_students_edition_and_nothing_else(
    course: Course, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    if course.walls.bubblewrap is None:
        pytest.skip(f"no bubblewrap that works here: {'; '.join(course.walls.missing)}")
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    places = [str(course.root / "exercises"), str(sample.REPOSITORY / "exercises"), str(cluster.state_dir)]
    run = play(course, cluster, {"looks": LOOKS.replace("PLACES", repr(places))})["looks"]
    assert statuses(run) == ["passed", "passed"]
    said, env, processes = json.loads(outputs(run))[0]["text"].splitlines()
    seen, wrote, files = json.loads(said)
    assert seen == [False, False, False]
    assert wrote == ["HERE/answers", "/tmp"]
    assert [one for one in files if not one.startswith("../exercises/01-limit/")] == [
        "10-exercises.ipynb",
        "answers/new",
    ]
    assert not [one for one in files if "solution" in one or "hidden" in one or "wrong" in one or "right" in one]
    assert "SECRET_TOKEN" not in env
    assert "JPY_PARENT_PID" not in env
    assert len(json.loads(processes.rpartition("]")[0].replace("'", '"') + "]")) <= 3


def test_what_ends_the_runs_process_ends_no_more_than_the_run(
    course: Course, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = "import os\nos.kill(os.getppid(), 9)\nos.kill(-1, 9)"
    run = play(course, cluster, {"a": ours, "b": "1"})
    assert statuses(run["b"]) == ["passed", "passed"], "inside, the run's process cannot be seen"
    first = "import time\ntime.sleep(60)"
    real = Running._argv

    def dies(self: Running, *args: Any) -> list[str]:
        argv = real(self, *args)
        return [argv[0], "-c", "import os; os.kill(os.getpid(), 9)", *argv[1:]]

    monkeypatch.setattr(Running, "_argv", dies)
    runs = play(course, cluster, {"a": first, "b": "1"})
    assert [statuses(runs[key]) for key in ("a", "b")] == [["not-run", "not-run"]] * 2
    assert runs["a"].notes[0].text == "the notebooks' run ended early: killed by SIGKILL"


def test_all_kernels_come_from_one_process_and_find_nothing_of_each_other(
    course: Course, cluster: EmbeddedCluster
) -> None:
    cell = """
import os, pathlib
print("found", [str(one) for one in pathlib.Path("/tmp").rglob("of-another-kernel*")])
pathlib.Path("/tmp/of-another-kernel/deep").mkdir(parents=True)
pathlib.Path("/tmp/of-another-kernel.txt").symlink_to("/etc")
print("parent", pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[19])
"""
    if course.walls.bubblewrap is None:
        pytest.skip("no bubblewrap here, so /tmp is everybody's")
    runs = play(course, cluster, dict.fromkeys(("one", "two", "three"), cell))
    said = [outputs(run) for run in runs.values()]
    assert all("found []" in one for one in said), said
    (begun,) = {one.partition("parent ")[2].partition("\\")[0] for one in said}
    assert begun.isdigit()


def test_nothing_of_a_run_is_left(course: Course, cluster: EmbeddedCluster) -> None:
    left = "import subprocess, sys\nmark = 'import time # labkit-left-over\\nwhile True: time.sleep(1)'\n"
    left += "subprocess.Popen([sys.executable, '-c', mark], start_new_session=True)"
    run = play(course, cluster, {"left": left})["left"]
    assert statuses(run) == ["passed", "passed"]
    there = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
    assert not [one for one in there if "labkit-left-over" in " ".join(one)]


def test_a_cluster_that_dies_is_a_note(course: Course, tmp_path: Path) -> None:
    own = EmbeddedCluster(tmp_path / "own", owner=Owner.HELD)
    own.start()
    begin = "import labkit\nlab = labkit.begin('exercises')\nlab.kubectl('get', 'ns', 'ch54')"
    try:
        whole = play(course, own, {"a": begin})["a"]
        assert statuses(whole) == ["passed", "passed"]
        with Api(own) as api:
            assert api.get("/api/v1/namespaces/ch54") is not None, "it was this very cluster"
        psutil.Process(own.ready.pid).kill()
        psutil.wait_procs([psutil.Process(own.ready.pid)], timeout=10)
        gone = play(course, own, {"a": begin, "b": "1"})
    finally:
        own.stop()
    assert [statuses(gone[key]) for key in ("a", "b")] == [["failed", "passed"], ["passed", "passed"]]
    assert "ClusterGone" in gone["a"].cells[0].said
    assert [one.code for one in gone["a"].notes] == ["cluster-gone"]


def test_a_cluster_that_eats_the_machine_ends_with_the_run_and_is_a_note(course: Course, tmp_path: Path) -> None:
    own = EmbeddedCluster(tmp_path / "own", owner=Owner.HELD)
    own.start()
    small = replace(course, walls=replace(course.walls, limits=replace(ROOM, cluster_memory=1 << 20)))
    try:
        run = play(small, own, {"a": "while not lab: pass"})["a"]
    finally:
        own.stop()
    assert run.notes[0].text == "the submission's cluster was ended: more than 1 MiB of memory"


def test_other_kubeconfigs_and_another_kubectl_lead_nowhere(course: Course, cluster: EmbeddedCluster) -> None:
    """A check speaks to the cluster it was given, whatever the cell made of the process's environment."""
    cell = "import os\nos.environ['KUBECONFIG'] = '/dev/null'\nos.makedirs('/tmp/bin', exist_ok=True)\n"
    cell += "open('/tmp/bin/kubectl', 'w').write('#!/bin/sh\\necho 3 of 3\\n')\nos.chmod('/tmp/bin/kubectl', 0o755)\n"
    cell += "os.environ['PATH'] = '/tmp/bin:' + os.environ['PATH']\nlab.answer('limit', 'a: 1')\n"
    run = play(course, cluster, {"limit": cell}, check=True)["limit"]
    assert statuses(run) == ["passed", "passed", "failed"]
    assert "0 of 3" in outputs(run, 2)


def test_without_bubblewrap_notebooks_run_too(
    course: Course, cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "bwrap" else which(name, **more))
    bare = replace(course, walls=Walls.find(hidden=(course.root,), limits=ROOM, do_without=True))
    assert bare.walls.bubblewrap is None
    cells = {"limit": f"%%answer limit\n{sample.solution()}"}
    run = play(bare, cluster, cells, check=True)["limit"]
    assert statuses(run) == ["passed", "passed", "passed"], run.cells
    runs = play(bare, cluster, {"exit": "import os\nos._exit(1)", "env": "import os\nprint(sorted(os.environ))"})
    assert statuses(runs["exit"]) == ["died", "not-run"]
    assert not [name for name in os.environ if name.startswith("PYTEST_") and name in outputs(runs["env"])]


def test_an_empty_answer_is_not_run(course: Course, cluster: EmbeddedCluster) -> None:
    with Running(course.root, {"limit": course.source}, course.walls) as running:
        assert running.run([Answer("limit", "x", "x", empty=True), Answer("limit", None, empty=True)], cluster) == {}
