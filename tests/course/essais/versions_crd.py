"""The report asked for by the chapter's last exercise: which definitions keep objects in a version to be retired.

One line a definition whose ``status.storedVersions`` names more than its stored version (``--tout``: all of them), with
its objects counted on request (``--objets``). Exit code 1 when one of them needs a migration.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

COLUMNS = ("DÉFINITION", "STOCKÉE", "SERVIES", "DANS ETCD", "OBJETS", "ÉTAT")


def main() -> int:
    """Print the table and its last line."""
    parser = argparse.ArgumentParser(description="L'état des versions de chaque définition")
    parser.add_argument("--objets", action="store_true")
    parser.add_argument("--tout", action="store_true")
    options = parser.parse_args()
    definitions = sorted(get("crd")["items"], key=lambda one: one["metadata"]["name"])
    waiting = [one for one in definitions if leftovers(one)]
    shown = [row(one, count=options.objets) for one in (definitions if options.tout else waiting)]
    columns = [column for column in COLUMNS if options.objets or column != "OBJETS"]
    for line in table([dict(zip(COLUMNS, COLUMNS, strict=True)), *shown], columns):
        print(line)
    print(f"\n{len(definitions)} définitions, {len(waiting)} à migrer")
    return 1 if waiting else 0


def stored_version(definition: dict[str, Any]) -> str:
    return next(version["name"] for version in definition["spec"]["versions"] if version["storage"])


def leftovers(definition: dict[str, Any]) -> list[str]:
    """Versions that etcd may still hold, beside the stored one."""
    return [name for name in definition["status"]["storedVersions"] if name != stored_version(definition)]


def row(definition: dict[str, Any], *, count: bool) -> dict[str, str]:
    served = [version for version in definition["spec"]["versions"] if version["served"]]
    old = leftovers(definition)
    target = stored_version(definition)
    values = (
        definition["metadata"]["name"],
        target,
        ",".join(version["name"] + "*" * version.get("deprecated", False) for version in served),
        ",".join(definition["status"]["storedVersions"]),
        str(len(get(definition["metadata"]["name"], "-A")["items"])) if count else "",
        f"migrer {','.join(old)} -> {target}" if old else "ok",
    )
    return dict(zip(COLUMNS, values, strict=True))


def table(rows: list[dict[str, str]], columns: list[str]) -> Iterator[str]:
    widths = {column: max(len(one[column]) for one in rows) for column in columns}
    for one in rows:
        yield "   ".join(one[column].ljust(widths[column]) for column in columns).rstrip()


def get(*what: str) -> Any:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        sys.exit("kubectl is not on PATH")
    done = subprocess.run([kubectl, "get", *what, "-o", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
