"""Append-only record of a long run: one JSON line per question or clip and setup.

Line 1 holds the settings that every result depends on, such as model, benchmark and seed. A run
with other settings is refused. Every other line is one result, written as soon as it is known, so a
stopped run can continue.
"""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Required, Self, TypedDict

_LOG = logging.getLogger(__name__)
FORMAT = 1
HEADER = {"gleanvid_evaluation": int, "settings": dict}  # entries that line 1 must have
ROW = {"item": str, "setup": str}  # entries that each line after line 1 must have
REFUSAL = "ValueError: "  # "error" starts with this if a compressor cannot run with its settings

Key = tuple[str, str]  # (question's id, ``Setup.key``)


class JournalError(ValueError):
    """Raised for an unusable journal; the message names the file and what to do."""


class Row(TypedDict, total=False):
    """Entries that all kinds of journal rows share. A failed row has an error and no results."""

    item: Required[str]
    setup: Required[str]  # ``Setup.key``: compressor, its settings and number of frames
    error: str  # error message, only in a failed row


class EvidenceCounts(TypedDict, total=False):
    """Result of :func:`gleanvid.evaluation.run.rows.evidence_kept`; absent if it is unknown."""

    evidence: list[int]
    things: list[int]
    moments: list[int]


class AnswerRow(Row, EvidenceCounts, total=False):
    """The answer to one question under one setup."""

    said: dict[str, str]  # response by response mode, such as "letter" or "text"
    right: list[float]  # verdict in [0, 1] on each response in ``said``
    tokens: list[float]  # visual tokens: all in the clip, entering layer 0, mean over layers
    seconds: float  # seconds for compression, prefill and response, without encoding
    saturated: list[int]  # counts of saturated and all units, see gleanvid.metrics.saturation
    relevance: list[float]  # "kept", "best", "random" from ``Relevance.kept_over_layers``


class ClipRow(Row, total=False):
    """The result of compressing one clip without a question."""

    file: str
    grid: list[int]
    tokens: int
    kept: int
    budgets: list[int]
    notes: list[str]  # remarks of the video reader on the file
    seconds: dict[str, float]  # seconds of encoding ("encode") and compression ("compress")
    saturated: list[int]


class LmmsRow(Row, total=False):
    """The answer to one request of LMMs-Eval."""

    said: dict[str, str]
    tokens: list[int]  # tokens of the whole prompt, before and after compression
    new_tokens: int
    seconds: float
    prefill_s: float
    compress_s: float
    generate_s: float
    peak_memory_mib: float


class Journal:
    """A journal open for appending, locked against a second process.

    A half-written last line is dropped with a warning. Raises :class:`JournalError` if the file's
    settings differ from ``settings``, a line is damaged, ``path`` is a link or not a file, or
    another process has the journal open.
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.rows: dict[Key, Any] = {}
        self._file = self._opened()
        try:
            self._lock()
            lines = self._whole_lines()
            if lines:
                _check_settings(self.path, lines[0], settings)
                for number, line in enumerate(lines[1:], 2):
                    self._take(_parsed(self.path, line, number))
            else:
                self._write({"gleanvid_evaluation": FORMAT, "settings": dict(settings)})
        except BaseException:
            self._file.close()
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        """Append a row with "item" and "setup". Raises ``JournalError`` if writing fails.

        Nothing is written if the last row of the same item and setup has the same error.
        """
        before = self.rows.get((row["item"], row["setup"]), {})
        if "error" in row and before.get("error") == row["error"]:
            return
        self._write(row)
        self._take(dict(row))

    def done(self, key: Key) -> bool:
        """Return whether ``key``, an (item, setup) pair, has a result; an error is not a result."""
        return key in self.rows and "error" not in self.rows[key]

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> BinaryIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            is_other = self.path.exists() and not self.path.is_file()
            # Reading a named pipe would never end. A link may lead to any other file of the user.
            if is_other or self.path.is_symlink():
                raise JournalError(f"{self.path} is a link or no file: choose another folder")
            return self.path.open("ab+", buffering=0)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be written ({error.strerror})") from error

    def _take(self, row: dict[str, Any]) -> None:
        key = (row["item"], row["setup"])
        if not self.done(key):
            self.rows[key] = row

    def _whole_lines(self) -> list[bytes]:
        """Return the complete lines, and cut a half-written last line off the file."""
        self._file.seek(0)
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            _LOG.warning(
                "%s: the last line is half-written and was dropped; its question is asked again",
                self.path,
            )
            self._file.truncate(len(whole))
        return whole.splitlines()

    def _write(self, row: Mapping[str, Any]) -> None:
        line = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()
        status = os.fstat(self._file.fileno())
        if not status.st_nlink:
            raise JournalError(f"{self.path} was deleted while it was written: run this again")
        size = status.st_size
        try:
            view = memoryview(line)
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self._file.truncate(size)
            raise self.stopped_by(error, self.path) from error

    def stopped_by(self, error: OSError, path: Path) -> JournalError:
        """Return the error that says why ``path`` could not be written and what to do."""
        reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        kept = f"the {len(self.rows)} results so far are kept"
        return JournalError(f"{path}: {reason}; {kept}: free some space and run the command again")

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows: no advisory locks
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise JournalError(
                f"{self.path} is being written by another process; wait for it or choose another "
                "folder"
            ) from error


def _check_settings(path: Path, line: bytes, settings: Mapping[str, Any]) -> None:
    header = _parsed(path, line, 1, HEADER)
    if header["gleanvid_evaluation"] != FORMAT:
        raise JournalError(
            f"{path} was written by another version of GleanVID; choose another folder"
        )
    before, now = dict(_flat(header["settings"])), dict(_flat(json.loads(json.dumps(settings))))
    for name in before | now:
        if before.get(name) != now.get(name):
            raise JournalError(
                f"{path} was made with {name}={before.get(name)!r}, this run has "
                f"{name}={now.get(name)!r}: use the same setting, or another folder for results"
            )


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _parsed(
    path: Path, line: bytes, number: int, wanted: Mapping[str, type] = ROW
) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or any(type(row.get(n)) is not kind for n, kind in wanted.items()):
        raise _damaged(path, number)
    return row


def _damaged(path: Path, number: int) -> JournalError:
    return JournalError(
        f"{path}, line {number} is damaged: repair or delete that line, or choose another folder; "
        "nothing was changed"
    )
