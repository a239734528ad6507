"""Linux' Landlock by its three system calls: limits this process to reading one file.

See ``Documentation/userspace-api/landlock.rst`` of the kernel. What is open already stays open.
"""

from __future__ import annotations

import ctypes
import os
import struct

CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # the same on every architecture
VERSION_ONLY = 1
PATH_BENEATH = 1
READ_FILE = 1 << 2
PR_SET_NO_NEW_PRIVS = 38
# Rights over files by version of the interface: all that is named here is then denied.
RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
TCP, TCP_SINCE = 3, 4  # to bind and to connect
SCOPES, SCOPES_SINCE = 3, 6  # abstract sockets and signals to other processes


def version(libc: ctypes.CDLL) -> int:
    """Of the kernel's interface; 0 where there is none."""
    return max(0, libc.syscall(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_ONLY)))


def restrict(path: str | None) -> bool:
    """Leave this thread, and those it starts, ``path`` to read; False where that is not known."""
    libc = ctypes.CDLL(None, use_errno=True)
    known = version(libc)
    if not known or libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    rights = RIGHTS[max(number for number in RIGHTS if number <= known)]
    wanted = [rights]
    wanted += [TCP] if known >= TCP_SINCE else []
    wanted += [SCOPES] if known >= SCOPES_SINCE else []
    attributes = struct.pack(f"={len(wanted)}Q", *wanted)
    rules = libc.syscall(CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        allowed = path is None or _allow(libc, rules, path)
        return allowed and libc.syscall(RESTRICT, rules, ctypes.c_uint32(0)) == 0
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str) -> bool:
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", READ_FILE, file)
        return bool(libc.syscall(ADD_RULE, rules, PATH_BENEATH, rule, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(file)
