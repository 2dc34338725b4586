"""Report which definitions of the cluster need a migration before an old version can go."""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass

TITLES = ["DEFINITION", "STORED", "SERVED", "IN ETCD", "OBJECTS", "STATE"]


@dataclass(frozen=True)
class Versions:
    """The versions of one definition, by what they are to it."""

    name: str
    stored: str
    served: list
    persisted: list

    @classmethod
    def of(cls, definition):
        versions = definition["spec"]["versions"]
        return cls(
            name=definition["metadata"]["name"],
            stored="".join(one["name"] for one in versions if one["storage"]),
            served=[one["name"] + ("*" if one.get("deprecated") else "") for one in versions if one["served"]],
            persisted=definition["status"].get("storedVersions", []),
        )

    @property
    def leftover(self):
        """What may still lie in etcd and is not what is stored today."""
        return [version for version in self.persisted if version != self.stored]

    def row(self, objects):
        state = f"migrate {', '.join(self.leftover)} -> {self.stored}" if self.leftover else "ok"
        return [self.name, self.stored, ",".join(self.served) or "-", ",".join(self.persisted), objects, state]


def get(*arguments):
    """Standard output of ``kubectl get``, and whether it went well."""
    done = subprocess.run(["kubectl", "get", *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.returncode == 0


def count(one):
    """The number of objects, as text; a type that is not served cannot be asked for."""
    if not one.served:
        return "-"
    names, fine = get(one.name, "-A", "-o", "name")
    return str(len(names.split())) if fine else "?"


def print_table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("   ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objets", action="store_true", help="count the objects, too")
    parser.add_argument("--tout", action="store_true", help="show all definitions")
    options = parser.parse_args()

    answer, fine = get("crd", "-o", "json")
    if not fine:
        return 2
    found = sorted((Versions.of(one) for one in json.loads(answer)["items"]), key=lambda one: one.name)
    late = [one for one in found if one.leftover]

    rows = [TITLES] + [one.row(count(one) if options.objets else "") for one in (found if options.tout else late)]
    if not options.objets:
        rows = [row[:4] + row[5:] for row in rows]
    print_table(rows)
    print(f"\n{len(found)} definitions, {len(late)} to migrate")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
