"""The module of the pages: the trace as WebAssembly, which a browser loads to judge objects without any server.

Go compiles it from the sources of the control plane, for another processor, so that Go's cache holds nothing of use for
it the first time: a minute or two more on two cores. A reader has to fetch it, so it is kept compressed, and one above
``MOST_BYTES`` is an error, not a surprise for readers. Go's own glue, ``wasm_exec.js``, must be of the version that
compiled it; so it is copied from there, and is not in the repository.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from labkit.errors import MachineError
from labkit.machine.checkout import Checkout, control_plane_flags, go_digest, read_stamp, write_stamp
from labkit.machine.control_plane import compiled, failure, gogc
from labkit.machine.jobs import Command, Pause, Steps

__all__ = ["MOST_BYTES", "is_fresh", "page_module_steps"]

PACKAGE = "./cmd/crdtrace"
MOST_BYTES = 15_000_000
"""Of the compressed module; it has some 13 MB."""

_COMPRESS = """import gzip, shutil, sys
with open(sys.argv[1], "rb") as plain, open(sys.argv[2], "wb") as out:
    with gzip.GzipFile("", "wb", 9, out, mtime=0) as small:
        shutil.copyfileobj(plain, small, 1 << 20)
"""


def is_fresh(checkout: Checkout) -> bool:
    """Whether both files are there, and were made from today's sources."""
    stamp = read_stamp(checkout.page_module_stamp)
    return _all_there(checkout.page_module) and stamp.get("digest") == go_digest(checkout, PACKAGE)


def page_module_steps(checkout: Checkout, go: Callable[[], str | None]) -> Steps:
    """Compile the module, compress it, and put it with Go's glue in their place.

    *go* gives the Go to use, or None while it is not there, or busy with the control plane.
    """
    while (program := go()) is None:
        yield Pause("waiting for the control plane")
    digest = go_digest(checkout, PACKAGE)
    fails = failure("the pages' module", "page-module.log", "make play and make lab do without it")
    env = {"CGO_ENABLED": "0", "GOOS": "js", "GOARCH": "wasm"}
    flags = control_plane_flags(checkout)
    lacking = "{{if .Stale}}{{.ImportPath}}{{end}}"
    listing = (program, "list", "-deps", *flags, "-f", lacking, PACKAGE)
    lines = yield Command("looking for what is compiled already", listing, fails, checkout.go_module, env)
    stale = sum(1 for line in lines if line and not line.startswith("go: "))
    place = checkout.page_module
    new = place.with_name(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    plain, small = new / "crdtrace.wasm", new / "crdtrace.wasm.gz"
    try:
        build = (program, "build", "-v", *flags, "-o", str(plain), PACKAGE)
        yield Command("compiling", build, fails, checkout.go_module, {**env, **gogc()}, detail=compiled(stale))
        compress = (sys.executable, "-c", _COMPRESS, str(plain), str(small))
        yield Command("compressing", compress, fails, checkout.root)
        plain.unlink()
        *_, root = yield Command("looking for Go's glue", (program, "env", "GOROOT"), fails, checkout.go_module)
        _check(small, Path(root))
        shutil.copyfile(_glue(Path(root)), new / "wasm_exec.js")
        shutil.rmtree(place, ignore_errors=True)
        new.replace(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    write_stamp(checkout.page_module_stamp, {"digest": digest})


def _all_there(place: Path) -> bool:
    return all((place / name).is_file() for name in ("crdtrace.wasm.gz", "wasm_exec.js"))


def _glue(root: Path) -> Path:
    return root / "lib" / "wasm" / "wasm_exec.js"


def _check(small: Path, root: Path) -> None:
    size = small.stat().st_size
    if size > MOST_BYTES:
        raise MachineError(
            "the pages' module has grown too large for readers to fetch",
            evidence=f"{size:,} bytes compressed, {MOST_BYTES:,} at most",
            next_act="see what the trace imports for nothing (go list -deps ./cmd/crdtrace)",
        )
    if not _glue(root).is_file():
        raise MachineError(
            "this Go has no glue for WebAssembly",
            evidence=f"no {_glue(root)}",
            next_act="install the whole of Go (https://go.dev/dl), then make setup again",
        )
