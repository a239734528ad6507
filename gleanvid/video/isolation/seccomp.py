"""Linux' seccomp: blocks system calls that decoding never needs, in every thread of this process.

No sockets, no other programs or processes, no signals, no change to what files or processes are
allowed. Threads go on. The numbers for x86-64 are tested, those for aarch64 taken from its table.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

SET_FILTER, ALL_THREADS = 1, 1
PR_SET_NO_NEW_PRIVS = 38
ALLOW, FAIL = 0x7FFF0000, 0x00050000  # the latter with an error number
LOAD, EQUAL, AT_LEAST, HAS_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # offsets in ``struct seccomp_data``
CLONE_THREAD = 0x10000
OTHER_TABLE = 0x40000000  # numbers of x86's 32-bit pointers

MACHINES = {  # name: (audit number, seccomp, clone, clone3, prlimit64, calls that fail)
    "x86_64": (
        0xC000003E, 317, 56, 435, 302,
        (
            41, 42, 43, 44, 46, 49, 50, 53, 288, 307,  # sockets
            57, 58, 59, 62, 101, 129, 200, 234, 297, 322,  # fork, exec, signals, ptrace
            29, 64, 68,  # System V
            90, 91, 92, 93, 94, 132, 133, 188, 189, 190, 197, 198, 199, 235, 259, 260, 261, 268,
            280, 452,  # modes, owners, attributes and times of files, new nodes
            155, 161, 165, 166, 272, 308, 428, 429, 430, 431, 432, 433, 442,  # mounts, namespaces
            141, 142, 144, 203, 251, 314,  # priorities and affinity
            248, 249, 250, 298, 310, 311, 319, 321, 323,  # keys, perf, memory of others, bpf
            424, 425, 426, 427, 434, 438, 440,  # io_uring, handles of processes
        ),
    ),
    "aarch64": (
        0xC00000B7, 277, 220, 435, 261,
        (
            198, 199, 200, 201, 202, 203, 206, 211, 242, 269,
            117, 129, 130, 131, 138, 221, 240, 281,
            186, 190, 194,
            5, 6, 7, 14, 15, 16, 33, 52, 53, 54, 55, 88, 452,
            39, 40, 41, 51, 97, 268, 428, 429, 430, 431, 432, 433, 442,
            30, 118, 119, 122, 140, 274,
            217, 218, 219, 241, 270, 271, 279, 280, 282,
            424, 425, 426, 427, 434, 438, 440,
        ),
    ),
}  # fmt: skip


def restrict() -> bool:
    """Have the calls above fail from now on; False where the system does not know how."""
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        return False
    machine, seccomp, clone, clone3, prlimit, denied = MACHINES[platform.machine()]
    code = b"".join(_program(machine, clone, clone3, prlimit, denied))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    return bool(libc.syscall(seccomp, SET_FILTER, ALL_THREADS, program) == 0)


def _program(
    machine: int, clone: int, clone3: int, prlimit: int, denied: tuple[int, ...]
) -> list[bytes]:
    """Berkeley Packet Filter instructions, each with how many to skip if true and if false."""
    fail = _step(RETURN, FAIL | errno.EPERM)
    ask = [
        _step(LOAD, MACHINE), _step(EQUAL, machine, 1, 0), fail,
        _step(LOAD, NUMBER), _step(AT_LEAST, OTHER_TABLE, 0, 1), fail,
        _step(EQUAL, clone3, 0, 1), _step(RETURN, FAIL | errno.ENOSYS),  # clone is tried instead
        _step(EQUAL, clone, 0, 4), _step(LOAD, FIRST_ARGUMENT),
        _step(HAS_BITS, CLONE_THREAD, 0, 1), _step(RETURN, ALLOW), fail,
        _step(EQUAL, prlimit, 0, 4), _step(LOAD, FIRST_ARGUMENT),
        _step(EQUAL, 0, 0, 1), _step(RETURN, ALLOW), fail,  # of this process alone
    ]  # fmt: skip
    for number in denied:
        ask += [_step(EQUAL, number, 0, 1), fail]
    return [*ask, _step(RETURN, ALLOW)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
