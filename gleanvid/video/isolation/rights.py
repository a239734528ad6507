"""How a decoding process gives up rights: resource limits, Landlock and capabilities.

SECURITY.md says what the process can still do. Linux before 5.13 has no Landlock. On systems other
than Linux, only resources are limited.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from importlib.util import find_spec

PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION = 0x20080522
CAP_DAC_READ_SEARCH = 1 << 2  # root keeps this capability, to read clips of other users


def layers() -> dict[str, bool]:
    """Return how a decoding process is restricted, and whether this system can do so."""
    return {
        "memory, time and new files are limited": find_spec("resource") is not None,
        "no other file can be opened and no program started": _landlock_version() > 0,
    }


def give_up(path: str) -> None:
    """Give up every right but reading ``path``, as far as this system can take them away."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        # Landlock requires it; and no program gives root the rights back that it gave up.
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _restrict_files(libc, path)
        _drop_capabilities(libc)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Give up the capabilities of root, except for reading."""
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    reading = struct.pack("=6I", CAP_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH, 0, 0, 0, 0)
    if libc.capset(header, reading) != 0:
        libc.capset(header, bytes(24))


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


# --- Landlock: Documentation/userspace-api/landlock.rst of the kernel -----------------------------

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system call numbers, the same on all CPUs
PATH_BENEATH, READ_FILE = 1, 1 << 2
# ABI version of Landlock -> bit mask of all rights on files that this version can restrict.
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
TCP, TCP_SINCE = 3, 4  # bits for TCP bind and connect; first ABI version of Landlock with them
# bits for abstract sockets and signals; first ABI version of Landlock with them
SCOPES, SCOPES_SINCE = 3, 6


def _landlock_version() -> int:
    """Return the ABI version of Landlock in this kernel, 0 or less if it has none."""
    if sys.platform != "linux":
        return 0
    version_only = ctypes.c_uint32(1)
    call = ctypes.CDLL(None).syscall
    return int(call(CREATE_RULESET, None, ctypes.c_size_t(0), version_only))


def _restrict_files(libc: ctypes.CDLL, path: str) -> None:
    """Let this thread, and those it will start, open no file but ``path``, by Landlock.

    Open files stay open. Raises ``OSError`` if the kernel has Landlock and refuses.
    """
    version = _landlock_version()
    if version < 1:
        return
    handled = [FILE_RIGHTS[max(number for number in FILE_RIGHTS if number <= version)]]
    handled += [TCP] if version >= TCP_SINCE else []
    handled += [SCOPES] if version >= SCOPES_SINCE else []
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    size, none = ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    rules = libc.syscall(CREATE_RULESET, attributes, size, none)
    rule = struct.pack("=Qi", READ_FILE, os.open(path, os.O_PATH | os.O_CLOEXEC))
    if (
        rules < 0
        or libc.syscall(ADD_RULE, rules, PATH_BENEATH, rule, none) != 0
        or libc.syscall(RESTRICT_SELF, rules, none) != 0
    ):
        raise OSError(ctypes.get_errno(), "Landlock")
