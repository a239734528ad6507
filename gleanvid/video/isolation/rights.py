"""How a decoding process gives up rights: resource limits, Landlock and seccomp.

The process can still read the sizes and dates of other files (``stat``), and the time. Its number
of threads is limited from outside (:mod:`.sandbox`). Linux before 5.13 has no Landlock. Before 6.2,
the process can still empty the video file (``O_TRUNC``). The numbers of system calls on aarch64 are
taken from its table and are not tested. On systems other than Linux, only resources are limited.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

LAYERS = {  # layer of protection -> how it restricts the decoding process
    "limits": "memory, time and new files are limited",
    "files": "no other file can be read",
    "calls": "no network, programs or signals",
}
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
CAPABILITIES = 64  # larger than the number of any capability of the kernel
CAPABILITY_VERSION = 0x20080522
CAP_DAC_READ_SEARCH = 1 << 2  # root keeps this capability, to read clips of other users


def give_up(path: str | None) -> list[str]:
    """Give up every right but reading ``path``; return the names of the ``LAYERS`` in force."""
    layers = ["limits"] if find_spec("resource") else []
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if not libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            layers += ["files"] if _restrict_files(libc, path) else []
            layers += ["calls"] if _drop_capabilities(libc) and _restrict_calls(libc) else []
    return layers


def _drop_capabilities(libc: ctypes.CDLL) -> bool:
    """Give up the capabilities of root, except for reading; return whether that worked."""
    for number in range(CAPABILITIES):  # fails without effect if the user is not root
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    reading = struct.pack("=6I", CAP_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH, 0, 0, 0, 0)
    return any(libc.capset(header, kept) == 0 for kept in (reading, bytes(24)))


def limit(name: str, most: int) -> None:
    """Limit a resource of this process, such as ``RLIMIT_AS``, if the system supports that."""
    try:
        import resource

        number = getattr(resource, name)
        _, hard = resource.getrlimit(number)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (most, most))
    except (ImportError, AttributeError, ValueError, OSError):
        return


def limit_growth(more_bytes: int) -> None:
    """Let this process take at most ``more_bytes`` of memory beyond what it has, on Linux."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return
    limit("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE") + more_bytes)


# --- Landlock: Documentation/userspace-api/landlock.rst of the kernel -----------------------------

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system call numbers, the same on all CPUs
VERSION_ONLY, PATH_BENEATH, READ_FILE = 1, 1, 1 << 2
# ABI version of Landlock -> bit mask of all rights on files that this version can restrict.
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
TCP, TCP_SINCE = 3, 4  # bits for TCP bind and connect; first ABI version of Landlock with them
# bits for abstract sockets and signals; first ABI version of Landlock with them
SCOPES, SCOPES_SINCE = 3, 6


def _restrict_files(libc: ctypes.CDLL, path: str | None) -> bool:
    """Let this thread, and those it will start, open no file but ``path``, by Landlock.

    Files that are already open stay open. Return whether that worked.
    """
    version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_ONLY))
    if version < 1:
        return False
    handled = [FILE_RIGHTS[max(number for number in FILE_RIGHTS if number <= version)]]
    handled += [TCP] if version >= TCP_SINCE else []
    handled += [SCOPES] if version >= SCOPES_SINCE else []
    size = ctypes.c_size_t(8 * len(handled))
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    rules = libc.syscall(CREATE_RULESET, attributes, size, ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        allowed = path is None or _allow_reading(libc, rules, path)
        return allowed and libc.syscall(RESTRICT_SELF, rules, ctypes.c_uint32(0)) == 0
    finally:
        os.close(rules)


def _allow_reading(libc: ctypes.CDLL, rules: int, path: str) -> bool:
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", READ_FILE, file)
        return bool(libc.syscall(ADD_RULE, rules, PATH_BENEATH, rule, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(file)


# --- seccomp: a filter in Berkeley Packet Filter code, for every thread of this process -----------


class Machine(NamedTuple):
    """Numbers of a CPU architecture that the filter needs: its audit number and system calls."""

    audit: int
    seccomp: int
    clone: int
    clone3: int
    prlimit: int
    fcntl: int
    ioctl: int


MACHINES = {
    "x86_64": Machine(0xC000003E, 317, 56, 435, prlimit=302, fcntl=72, ioctl=16),
    "aarch64": Machine(0xC00000B7, 277, 220, 435, prlimit=261, fcntl=25, ioctl=29),
}
DENIED = {  # kind of system call -> numbers on x86-64, numbers on aarch64
    "sockets": (
        (41, 42, 43, 44, 46, 49, 50, 53, 288, 307),
        (198, 199, 200, 201, 202, 203, 206, 211, 242, 269),
    ),
    "fork, exec, signals, ptrace": (
        (57, 58, 59, 62, 101, 129, 200, 234, 297, 322),
        (117, 129, 130, 131, 138, 221, 240, 281),
    ),
    "shared memory, semaphores and queues of System V and POSIX": (
        (29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241),
        (180, 181, *range(186, 197)),
    ),
    "truncation by path, which Landlock controls from Linux 6.2 on": ((76,), (45,)),
    "modes and owners of files": ((90, 91, 92, 93, 94, 260, 268, 452), (52, 53, 54, 55, 452)),
    "attributes and times of files, new nodes": (
        (132, 133, 188, 189, 190, 197, 198, 199, 235, 259, 261, 280),
        (5, 6, 7, 14, 15, 16, 33, 88),
    ),
    "watching other files (inotify, fanotify)": ((253, 254, 294, 300, 301), (26, 27, 262, 263)),
    "mounts and namespaces": (
        (155, 161, 165, 166, 272, 308, 428, 429, 430, 431, 432, 433, 442),
        (39, 40, 41, 51, 97, 268, 428, 429, 430, 431, 432, 433, 442),
    ),
    "reboot, modules, swap, quotas, accounting, the log and ports of the machine": (
        (103, 153, 163, 167, 168, 169, 172, 173, 175, 176, 179, 246, 313, 320, 443),
        (58, 60, 89, 104, 105, 106, 116, 142, 224, 225, 273, 294, 443),
    ),
    "the clock and the names of the machine": (
        (159, 164, 170, 171, 227, 305),
        (112, 161, 162, 170, 171, 266),
    ),
    "opening files by handle": ((303, 304), (264, 265)),
    "priorities and affinity": ((141, 142, 144, 203, 251, 314), (30, 118, 119, 122, 140, 274)),
    "keys, perf, memory of other processes, bpf": (
        (248, 249, 250, 298, 310, 311, 319, 321, 323),
        (217, 218, 219, 241, 270, 271, 279, 280, 282),
    ),
    "io_uring, handles of processes": ((424, 425, 426, 427, 434, 438, 440),) * 2,
}
SET_FILTER, ALL_THREADS = 1, 1
ALLOW, FAIL = 0x7FFF0000, 0x00050000  # results of the filter; FAIL | errno makes the call fail
LOAD, EQUAL, AT_LEAST, HAS_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24  # byte offsets in ``seccomp_data``
CLONE_THREAD = 0x10000
LAST_CALL = 462  # higher numbers are newer calls; they fail as on an older kernel (ENOSYS)
SIGNALLING = {  # commands by which the kernel may send signals to other processes
    "fcntl": (8, 10, 15),  # F_SETOWN, F_SETSIG, F_SETOWN_EX
    "ioctl": (0x5452, 0x8901, 0x8902),  # FIOASYNC, FIOSETOWN, SIOCSPGRP
}
OTHER_TABLE = 0x40000000  # bit of the x32 system calls (32-bit pointers on x86-64)


def _restrict_calls(libc: ctypes.CDLL) -> bool:
    """Make system calls that decoding never needs fail; return whether that worked.

    Threads can still be started.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        return False
    code = b"".join(_filter(machine))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    return bool(libc.syscall(machine.seccomp, SET_FILTER, ALL_THREADS, program) == 0)


def _filter(machine: Machine) -> Iterator[bytes]:
    """Yield the instructions of the seccomp filter.

    In a comparison, the last two arguments of ``_step`` are how many instructions to skip: first if
    the comparison is true, then if it is false.
    """
    fail, allow = _step(RETURN, FAIL | errno.EPERM), _step(RETURN, ALLOW)
    yield from (_step(LOAD, MACHINE), _step(EQUAL, machine.audit, 1, 0), fail)
    yield from (_step(LOAD, NUMBER), _step(AT_LEAST, OTHER_TABLE, 0, 1), fail)
    # Pretend that clone3 is missing. libc then calls clone, whose flags a filter can read.
    yield from (_step(EQUAL, machine.clone3, 0, 1), _step(RETURN, FAIL | errno.ENOSYS))
    yield from (_step(EQUAL, machine.clone, 0, 4), _step(LOAD, FIRST_ARGUMENT))
    yield from (_step(HAS_BITS, CLONE_THREAD, 0, 1), allow, fail)
    yield from (_step(EQUAL, machine.prlimit, 0, 4), _step(LOAD, FIRST_ARGUMENT))
    yield from (_step(EQUAL, 0, 0, 1), allow, fail)  # process id 0 is this process
    for name, commands in SIGNALLING.items():
        checks = [step for one in commands for step in (_step(EQUAL, one, 0, 1), fail)]
        yield _step(EQUAL, getattr(machine, name), 0, len(checks) + 2)
        yield from (_step(LOAD, SECOND_ARGUMENT), *checks, allow)
    yield from (_step(AT_LEAST, LAST_CALL + 1, 0, 1), _step(RETURN, FAIL | errno.ENOSYS))
    column = list(MACHINES.values()).index(machine)
    for numbers in DENIED.values():
        for number in numbers[column]:
            yield from (_step(EQUAL, number, 0, 1), fail)
    yield allow


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
