"""What an executable says of itself in its first bytes: its system, its machine, and how old a system may be.

A wheel's name promises on which machines its program runs, and nothing checks that promise when it is made on another
one. So the program's header is read as the loader of its system would: ELF (Linux), Mach-O (macOS) or PE (Windows).
Offsets and numbers are those of the formats: the ELF specification (System V ABI, chapter 4), Apple's
``mach-o/loader.h``, Microsoft's "PE Format".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from labkit.errors import MachineError

__all__ = ["HEADER_BYTES", "Executable", "read_header"]

HEADER_BYTES = 1 << 16
"""What ``read_header`` wants of a file; the headers of a Go program take less than 4 KiB."""

_ELF_MACHINES = {62: "amd64", 183: "arm64"}
_PE_MACHINES = {0x8664: "amd64", 0xAA64: "arm64"}
_MACHO_MACHINES = {0x01000007: "amd64", 0x0100000C: "arm64"}


@dataclass(frozen=True)
class Executable:
    """*system* and *machine* in Go's words ("linux", "amd64").

    *loader*: it needs a dynamic loader, and with it a C library of some kind and age (ELF only). *oldest*: the oldest
    macOS that runs it, major and minor. *signed*: it carries a signature, without which no Mac with Apple's processor
    runs it (Mach-O only).
    """

    system: str
    machine: str
    loader: bool = False
    oldest: tuple[int, int] | None = None
    signed: bool = False


def read_header(data: bytes) -> Executable:
    """What the file that begins with *data* is. Raises MachineError when it is no 64-bit program of the three kinds."""
    try:
        if data.startswith(b"\x7fELF"):
            return _elf(data)
        if data.startswith(b"\xcf\xfa\xed\xfe"):
            return _macho(data)
        if data.startswith(b"MZ"):
            return _pe(data)
    except struct.error as error:
        raise _strange(f"its header is cut off: {error}") from error
    raise _strange(f"it begins with {data[:4].hex(' ') or 'nothing'}")


def _elf(data: bytes) -> Executable:
    width, order, _, abi = struct.unpack_from("4B", data, 4)
    kind, machine = struct.unpack_from("<HH", data, 16)
    if (width, order) != (2, 1) or abi not in (0, 3) or kind not in (2, 3):
        raise _strange(f"ELF, but no 64-bit program of Linux (class {width}, order {order}, ABI {abi}, type {kind})")
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = {struct.unpack_from("<I", data, table + number * size)[0] for number in range(count)}
    return Executable("linux", _known(_ELF_MACHINES, machine), loader=bool(segments & {2, 3}))  # PT_DYNAMIC, PT_INTERP


def _macho(data: bytes) -> Executable:
    machine, _, kind, count = struct.unpack_from("<4I", data, 4)
    if kind != 2:  # MH_EXECUTE
        raise _strange(f"Mach-O, but no program (file type {kind})")
    oldest, signed, at = None, False, 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", data, at)
        if command == 0x32:  # LC_BUILD_VERSION: platform, then the oldest system as 16.8.8 bits
            (version,) = struct.unpack_from("<I", data, at + 12)
            oldest = (version >> 16, version >> 8 & 0xFF)
        signed = signed or command == 0x1D  # LC_CODE_SIGNATURE
        at += size
    return Executable("darwin", _known(_MACHO_MACHINES, machine), oldest=oldest, signed=signed)


def _pe(data: bytes) -> Executable:
    (at,) = struct.unpack_from("<I", data, 0x3C)
    sign, machine = struct.unpack_from("<4sH", data, at)
    flags, magic = struct.unpack_from("<HH", data, at + 22)
    if sign != b"PE\0\0" or magic != 0x20B or not flags & 0x0002 or flags & 0x2000:
        raise _strange(f"no 64-bit program of Windows (sign {sign!r}, magic {magic:#x}, flags {flags:#x})")
    return Executable("windows", _known(_PE_MACHINES, machine))


def _known(machines: dict[int, str], number: int) -> str:
    try:
        return machines[number]
    except KeyError:
        raise _strange(f"it is for a machine of number {number:#x}") from None


def _strange(evidence: str) -> MachineError:
    return MachineError("it is no program that a wheel is made for", evidence=evidence)
