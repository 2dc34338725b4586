"""Report which definitions of the cluster need a migration before an old version can go."""

import argparse
import json
import subprocess
import sys


def kubectl(*arguments):
    """What a kubectl command prints."""
    return subprocess.run(["kubectl", *arguments], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objets", action="store_true", help="count the objects, too")
    parser.add_argument("--tout", action="store_true", help="show all definitions")
    options = parser.parse_args()
    definitions = json.loads(kubectl("get", "crd", "-o", "json"))["items"]
    ...  # here: the report
    return 0


if __name__ == "__main__":
    sys.exit(main())
