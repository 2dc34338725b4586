"""Attacks by what a kernel runs: no cell can raise a mark, or lower one."""

from __future__ import annotations

from typing import Any

from tests.grading.attacks.handed import (
    EXERCISES,
    MIGRATION,
    NAMES_TWICE,
    NAMES_TWICE_POINTS,
    OFF_BY_ONE,
    OFF_BY_ONE_POINTS,
    RULE,
    Attack,
    named,
)

__all__ = ["ATTACKS", "LOOKS", "SHOWS", "WRITES"]


def below(name: str, among: str, code: str, *says: str) -> Attack:
    """A program that is to make more than it is worth of a wrong answer."""
    work = {"answers/rule.yaml": OFF_BY_ONE}
    return Attack(name, work, OFF_BY_ONE_POINTS, ("no-answer-line",), says, cell=code, among=among)


def above(name: str, among: str, exercise: str, code: str, *says: str, notes: tuple[str, ...] = ()) -> Attack:
    """A program that is to bring the grader down, beside a right answer."""
    one = EXERCISES[exercise]
    work = {f"answers/{exercise}.{one.answer}": one.solution or ""}
    return Attack(name, work, one.points, ("no-answer-line", *notes), says, exercise, code, among=among)


def _tags(cells: list[dict[str, Any]]) -> None:
    for one in ("typed", "typed-check"):
        named(cells, one)["metadata"]["tags"] = ["nbval-skip", "skip-execution", "raises-exception"]


def _forged(cells: list[dict[str, Any]]) -> None:
    check = named(cells, "rule-check")
    check["metadata"]["nbgrader"] |= {"points": 800, "locked": False}
    check["outputs"] = [
        {"output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {"text/plain": "8 of 8 points"}}
    ]
    check["source"] = "print('8 of 8 points')"
    cells.append({**named(cells, "rule"), "source": f"%%answer rule\n{RULE}", "id": "again"})


LOOKS = """
import os
found = [one for one in ("@COURSE@", "@GRADES@", "@SUBMISSIONS@", "@REPOSITORY@/exercises") if os.path.exists(one)]
secret = ("hidden", "right", "wrong", "judge.py", "solution.md", "solution.yaml", "solution.py")
seen = 0
for top, folders, files in os.walk("/"):
    if top in ("/proc", "/sys", "/dev"):
        folders.clear()
        continue
    folders[:] = [one for one in folders if one not in ("usr", "site-packages")]
    seen += len(files)
    for one in [*folders, *files]:
        if one in secret and "/exercises/" in top or one in ("result.json", ".labkit-grades.json", "grades.json"):
            found.append(os.path.join(top, one))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for one in ("environ", "cmdline", "root/@GRADES@/.labkit-grades.json", "cwd/../exercise.toml"):
        try:
            said = open(f"/proc/{pid}/{one}", "rb").read()
        except OSError:
            continue
        if b"GRADERS_SECRET" + b"=" in said or b"grading.worker" in said or one.startswith(("root", "cwd")):
            found.append(f"/proc/{pid}/{one}")
"""

WRITES = """
import os, site, sys, sysconfig
import labkit
places = ["@COURSE@/exercises/02-rule/hidden", "@COURSE@/crd", "@GRADES@", "@GRADES@/writes", "@SUBMISSIONS@", "/etc"]
places += ["@REPOSITORY@", "/usr/bin", "/bin", "/var/tmp", "/dev", "/", os.path.dirname(labkit.__file__), os.getcwd()]
places += [sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), os.path.dirname(sys.executable)]
wrote = []
for place in places:
    if place == "/tmp": continue  # its own
    for one in ("@MARK@", "grades.csv", "result.json", "sitecustomize.py", "conftest.py", "pytest.ini", "@MARK@.pth"):
        try:
            open(f"{place}/{one}", "w").write("writes,,,8")
            wrote.append(f"{place}/{one}")
        except OSError:
            pass
"""

ATTACKS = (
    Attack(
        "skip-tags",
        {},
        NAMES_TWICE_POINTS,
        ("changed-metadata",),
        ("its output is not what the instructor's answer brings",),
        "typed",
        f"# NBVAL_SKIP\n%%answer typed\n{NAMES_TWICE}\n# NBVAL_IGNORE_OUTPUT\n",
        _tags,
        "fills-and-skips",
    ),
    Attack(
        "forged-outputs",
        {"answers/progress.json": '{"rule": {"passed": ["bound", "defaults", "scale", "message"], "points": 8}}'},
        OFF_BY_ONE_POINTS,
        ("changed-metadata", "changed-cell", "duplicate-cell"),
        ("its output is not what the instructor's answer brings",),
        cell=f"%%answer rule\n{OFF_BY_ONE}",
        change=_forged,
        among="forges",
    ),
    below(
        "patched-labkit",
        "kills",
        """
import labkit, labkit.exercises.checks as checks
from labkit.exercises.report import Report, TaskResult
def check(exercise, *_, **__):
    tasks = tuple(TaskResult(one.id, one.title, one.points, one.points, True) for one in exercise.tasks)
    return Report(exercise.id, exercise.title, tasks)
checks.check = check
lab.answer("rule", "a: 1")
class Equal:
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __repr__(self): return "8 of 8, whatever you ask"
    def __getattr__(self, name): return self
    def __call__(self, *_, **__): return self
import builtins
print(lab.check("rule").points == 8)
lab = builtins.lab = Equal()
lab == 8, lab
""",
        "True\\n",
        "(True, 8 of 8, whatever you ask)",
    ),
    below(
        "other-kubectl",
        "deletes",
        """
import os
os.environ["KUBECONFIG"] = "/dev/null"
os.makedirs("/tmp/bin", exist_ok=True)
open("/tmp/bin/kubectl", "w").write("#!/bin/sh\\necho the server refused it: 8 of 8\\n")
os.chmod("/tmp/bin/kubectl", 0o755)
os.environ["PATH"] = "/tmp/bin:" + os.environ["PATH"]
import subprocess
print(subprocess.run(["kubectl"], capture_output=True, text=True).stdout)
lab.answer("rule", "a: 1")
""",
        "the server refused it: 8 of 8",
        "0 of 8",
    ),
    below(
        "looks-and-writes",
        "fills-and-skips",
        f"{LOOKS}\n{WRITES}\nprint('files:', seen > 100, 'found:', found, 'wrote:', wrote)",
        "files: True found: [] wrote: []",
    ),
    above(
        "kills-the-kernel",
        "shows-and-kills",
        "migration",
        "import os\nos.kill(-1, 9)\nos.kill(os.getpid(), 9)",
        "the kernel died in this cell",
    ),
    above(
        "kills-the-cluster",
        "kills",
        "typed",
        """
import os, json, ssl, base64, urllib.request
there = json.load(open(os.environ["LABKIT_CLUSTER"].removeprefix("embedded:") + "/cluster.json"))
for one in os.listdir("/proc"):
    if one.isdigit() and "controlplane" in open(f"/proc/{one}/cmdline").read(): os.kill(int(one), 9)
print(lab.kubectl("delete", "crd,clusterroles,clusterrolebindings", "--all", "--wait=false"))
tls = ssl.create_default_context(cafile=there["etcd"]["ca"])
tls.load_cert_chain(there["etcd"]["cert"], there["etcd"]["key"])
body = json.dumps({"key": base64.b64encode(b"/").decode(), "range_end": base64.b64encode(b"0").decode()}).encode()
asked = urllib.request.Request(there["etcd"]["url"] + "/v3/kv/deleterange", body)
print(f"etcd is {'emptied' if urllib.request.urlopen(asked, context=tls).status == 200 else 'there'}")
""",
        "etcd is emptied",
    ),
    above(
        "deletes-during-the-check",
        "deletes",
        "migration",
        f"""
import threading, time
from labkit.cluster import Api
lab.answer("migration", {MIGRATION!r})
def delete():
    with Api(lab.cluster) as api:
        while True:
            for path in ("apis/apiextensions.k8s.io/v1/customresourcedefinitions/colis.cours.example.com",
                         "api/v1/namespaces/ch54"):
                try:
                    api.delete("/" + path)
                except Exception:
                    pass
            time.sleep(0.1)
threading.Thread(target=delete, daemon=True).start()
print("deleting")
""",
        "deleting",
    ),
    above(
        "fork-bomb",
        "kills",
        "operator",
        """
import os, time
while True:
    try:
        if os.fork() == 0:
            mine = bytearray(b"x") * (16 << 20)  # what they share counts once
            while True:
                time.sleep(1)
    except OSError:
        time.sleep(1)
""",
        notes=("memory",),
    ),
    above("endless-output", "deletes", "operator", "while True:\n    print('x' * 1000)", "too-much-output"),
    above(
        "deaf-loop",
        "fills-and-skips",
        "migration",
        """
import signal, time
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(one, signal.SIG_IGN)
while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
""",
        "the cell was still running at its limit and was stopped",
    ),
    above(
        "stops-its-parent",
        "kills",
        "migration",
        "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)",
        "the cell was still running at its limit and was stopped",
    ),
    above(
        "fills-everything",
        "fills-and-skips",
        "inventory",
        """
import os
for place in ("/tmp", "/dev/shm", os.getcwd() + "/answers"):
    size = 0
    try:
        for number in range(1000):
            size += open(f"{place}/{number}", "wb").write(bytes(16 << 20))
    except OSError as full:
        print(place[:8], "is full:", full.strerror, size < 200 << 20, flush=True)
hogs = [os.fork() for _ in range(1)]
x = bytearray(b"x") * (600 << 20)
while True: pass
""",
        "the kernel died in this cell",
        notes=("memory",),
    ),
    above(
        "outlives",
        "stays",
        "migration",
        """
import os, subprocess, sys
code = "import os, time, signal\\nsignal.signal(15, signal.SIG_IGN)\\nif os.fork(): os._exit(0)\\nos.setsid()\\n"
code += "time.sleep(900) # @MARK@"
subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        time.sleep(900)
    os._exit(0)
print("started")
""",
        "started",
    ),
)

SHOWS = """
from IPython.display import HTML, Javascript, display
display(HTML("<script>alert('@MARK@')</script>"), Javascript("alert('@MARK@')"))
print("\\x1b]0;@MARK@\\x07\\x1b[2J\\x1b[31mred\\x1b[0m \\u202e <img src=x onerror=alert('@MARK@')>")
raise ValueError("\\x1b[2J<script>alert('@MARK@')</script>")
"""
"""The program of "html-and-escapes", whose text does the same."""
