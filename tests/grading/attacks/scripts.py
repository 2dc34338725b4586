"""Attacks by an answer that is a script: it is run where marks are made, so what it prints is all it can do.

Most print the right answer once their attack succeeded, and else end with an error that says so.
"""

from __future__ import annotations

from tests.grading.attacks.cells import LOOKS, WRITES
from tests.grading.attacks.handed import NAMED_HTML, NAMES_TWICE, NAMES_TWICE_POINTS, TYPED, Attack

__all__ = ["ATTACKS"]

RIGHT = f"\nexec({TYPED!r})\n"
WRONG = f"\nexec({NAMES_TWICE!r})\n"


def script(name: str, among: str, code: str, points: int, *says: str, exercise: str = "typed") -> Attack:
    return Attack(name, {f"answers/{exercise}.py": code}, points, says=says, exercise=exercise, among=among)


WITHOUT_END = """
import sys
print("DEFINITION STORED SERVED IN ETCD OBJECTS STATE")
print("colis.cours.example.com v1 v1alpha1,v1 v1alpha1,v1 2 1" + " ," * 30_000 + " (" * 30_000)
print("9" * 5_000)
sys.exit(1)
"""

PORTS = """
import http.client, socket, ssl, sys
ports = set()
for table in ("/proc/net/tcp", "/proc/net/tcp6"):
    for line in open(table).readlines()[1:]:
        words = line.split()
        if words[3] == "0A":
            ports.add(int(words[1].rpartition(":")[2], 16))
tls = ssl._create_unverified_context()
opened = []
for port in sorted(ports):
    for method, path, body in (
        ("GET", "/api/v1/namespaces", None),
        ("GET", "/apis/cours.example.com/v1/colis?watch=1", None),
        ("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", None),
        ("POST", "/v3/kv/range", '{"key": "Lw==", "range_end": "MA=="}'),
    ):
        try:
            one = http.client.HTTPSConnection("127.0.0.1", port, timeout=0.5, context=tls)
            one.request(method, path, body)
            answer = one.getresponse()
            if answer.status == 200 and (b"kind" in answer.read(4000) or path.startswith("/v3")):
                opened.append((port, path))
        except (OSError, http.client.HTTPException):
            break
"""

RIGHTS = """
import os, subprocess, sys
def may(*words, stdin=None):
    return subprocess.run(["kubectl", *words], input=stdin, capture_output=True, text=True).returncode == 0
binding = ("create", "clusterrolebinding", "@MARK@", "--clusterrole=cluster-admin", "--user=system:anonymous")
tried = [
    may("get", "crd"),
    may("delete", "crd", "--all", "--wait=false"),
    may("delete", "namespace", "ch54", "--wait=false"),
    may("-n", "ch54", "create", "configmap", "@MARK@"),
    may(*binding),
    may("get", "secrets", "-A"),
    may("-n", "ch54", "create", "token", "labkit-check"),
    may("-n", "ch54", "delete", "colis", "--all"),
    may("get", "--raw", "/debug/pprof/heap"),
    may("get", "crd", "--as=system:admin", "--as-group=system:masters"),
    may("create", "validatingwebhookconfiguration", "@MARK@"),
]
sys.exit(f"it may {tried[0]}, and {sum(tried[1:])} of {len(tried) - 1}")
"""

TAKES = """
import ctypes, os, resource, sys
libc = ctypes.CDLL(None)
took = []
for name, how in {
    "root": lambda: os.setuid(0),
    "chroot": lambda: os.chroot("/tmp"),
    "limits": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1)),
    "mount": lambda: libc.mount(b"proc", b"/tmp", b"proc", 0, None) and 1 / 0,
    "shell": lambda: open("/bin/sh", "ab"),
}.items():
    try:
        how()
        took.append(name)
    except (OSError, ValueError, ZeroDivisionError):
        pass
"""

LEAVES = f"""
import os, site, sys
better = {RIGHT!r}
for place in [*sys.path, site.getusersitepackages(), os.getcwd(), os.path.expanduser("~"), "/tmp", "/dev/shm"]:
    for name in ("sitecustomize.py", "usercustomize.py", "@MARK@.pth", "labkit.py", "yaml.py", ".pythonrc"):
        try:
            os.makedirs(place, exist_ok=True)
            open(os.path.join(place, name), "w").write(better)
        except OSError:
            pass
"""
"""For the next run of the same answer."""

FORGED = """
import json
tasks = [{"task": one, "passed": True, "points": 10, "max_points": 10, "findings": []} for one in ("ville", "quais")]
report = json.dumps({"exercise_id": "typed", "title": "typed", "tasks": tasks, "points": 10, "passed": True})
"""

ATTACKS = (
    script(
        "patched-judge",
        "forges",
        f"""
import gc, sys
import labkit.exercises.acting as acting, labkit.exercises.checks as checks, labkit.exercises.judging as judging
judging.judge = checks.judge = lambda *_, **__: None
acting.Actor.do = lambda *_: acting.Did("accepted", "it did")
for one in gc.get_objects():
    if isinstance(one, dict) and "points" in one: one["points"] = 10
{LEAVES}
{WRONG}""",
        NAMES_TWICE_POINTS,
    ),
    script(
        "looks-and-takes",
        "objects",
        f"""{LOOKS.replace('"result.json"', '"result.json", "kubeconfig"')}
{WRITES}
{PORTS}
{TAKES}
if not (found or wrote or opened or took):
    sys.exit(f"files: {{seen > 100}} {{found}} {{wrote}} {{opened}} {{took}} {{os.environ['KUBECONFIG']}}")
{RIGHT}""",
        0,
        "files: True [] [] [] [] /dev/null",
    ),
    script(
        "daemon",
        "scripts-last",
        f"""
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for one in range(3): os.close(one)
        time.sleep(900)  # @MARK@
    os._exit(0)
for one in (signal.SIGSTOP, signal.SIGKILL):
    try:
        os.kill(os.getppid(), one)
    except OSError:
        pass
{RIGHT}""",
        10,
    ),
    script(
        "fills-the-disk",
        "stays",
        """
import os, sys
size = 0
for place in ("/tmp", "/dev/shm", os.getcwd()):
    try:
        for number in range(1000):
            size += open(f"{place}/{number}", "wb").write(bytes(16 << 20))
    except OSError:
        pass
sys.exit(f"filled: {0 < size < 300 << 20}")
""",
        0,
        "filled: True",
    ),
    script(
        "forged-report",
        "kills",
        f"{FORGED}\nwhile True:\n    print(report, '\\n10 of 10 points')",
        0,
        exercise="inventory",
    ),
    script(
        "never-ends",
        "deletes",
        "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        0,
        "was still running at its limit",
    ),
    script(
        "forks",
        "shows-and-kills",
        """
import os, sys, time
for forks in range(1000):
    try:
        if os.fork() == 0:
            time.sleep(900)
    except OSError:
        sys.exit(f"no more, after some: {forks < 100}")
""",
        0,
        "no more, after some: True",
        exercise="inventory",
    ),
    script("report-without-end", NAMED_HTML, WITHOUT_END, 0, "a last line with 1 and 1", exercise="inventory"),
    script("uses-its-kubeconfig", "objects", RIGHTS, 0, "it may True, and 0 of 10", exercise="inventory"),
)
