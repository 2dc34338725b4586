"""What a student does with an edition, from an empty environment to the last command, and how long each step takes.

Run by ``test_clean_room`` in a room that has neither the repository nor a network, by the standard library alone. It
prints one JSON line a step, and goes on after a step that failed: the test judges.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

HOME = Path.home()
BIN = HOME / "env" / "bin"
EDITION = HOME / "edition"
ELSEWHERE = HOME / "elsewhere"
LIMIT_S = 280

STEPS = (
    ("environment", (sys.executable, "-m", "venv", str(HOME / "env")), HOME, {}),
    ("install", (str(BIN / "python"), "-m", "pip", "install", "--no-index", "--find-links", "../wheelhouse",
                 "--disable-pip-version-check", "-r", "requirements.txt"), EDITION, {}),
    ("doctor", ("labkit", "doctor"), EDITION, {}),
    ("start", ("labkit", "start"), EDITION, {}),
    ("define", ("labkit", "kubectl", "apply", "-f", "crd/02-colis-schema.yaml"), EDITION, {}),
    ("established", ("labkit", "kubectl", "wait", "--for", "condition=established",
                     "crd/colis.cours.example.com"), EDITION, {}),
    ("namespace", ("labkit", "kubectl", "create", "namespace", "ch54"), EDITION, {}),
    ("refusal", ("labkit", "kubectl", "apply", "-f", "crd/objects/invalide.yaml"), EDITION, {}),
    ("trace", ("labkit", "trace", "--crd", "crd/02-colis-schema.yaml", "crd/objects/invalide.yaml"), EDITION, {}),
    ("notebook", (str(BIN / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax",
                  "--nbval-current-env", "notebooks/02-schema.ipynb"), EDITION, {}),
    ("stop", ("labkit", "stop"), EDITION, {"LABKIT_LANG": "fr"}),
    ("course", (str(BIN / "python"), "-c", "from labkit.course.shared import shared_course as s; print(s())"),
     ELSEWHERE, {}),
    ("record", ("labkit", "record"), ELSEWHERE, {}),
)  # fmt: skip
"""Name, command, folder, and what is added to the environment."""


def room() -> dict[str, object]:
    """What the room has, so that the test can hold that it is empty."""
    path = os.environ["PATH"]
    return {
        "uid": os.getuid(),
        "networks": [name for _, name in socket.if_nameindex()],
        "go": shutil.which("go", path=path),
        "kubectl": shutil.which("kubectl", path=path),
        "repository": Path(sys.argv[1]).exists(),
    }


def main() -> None:
    ELSEWHERE.mkdir()
    print(json.dumps({"room": room()}), flush=True)
    begun = time.monotonic()
    for name, argv, cwd, more in STEPS:
        start = time.monotonic()
        program = shutil.which(argv[0], path=f"{BIN}:{os.environ['PATH']}") or argv[0]
        environ = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **more}
        try:
            done = subprocess.run(
                [program, *argv[1:]], cwd=cwd, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
            code, said = done.returncode, done.stdout + done.stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            code, said = -1, str(error)
        now = time.monotonic()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime
        step = {"step": name, "code": code, "said": said, "seconds": now - start, "at": now - begun, "cpu": cpu}
        print(json.dumps(step), flush=True)


if __name__ == "__main__":
    main()
