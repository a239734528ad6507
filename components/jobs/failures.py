"""The log of failures. What visitors send can neither fill it nor forge lines in it."""

from __future__ import annotations

import logging
import sys
import time
import traceback
from textwrap import indent

from gleanvid.errors import printable

log = logging.getLogger(__name__)

FAILURES = 60  # maximum number of failures logged per minute
LONGEST_FAILURE = 300  # maximum number of characters of an error in the log
LONGEST_TRACEBACK = 8_000


class FailureLog:
    """Logs at most ``FAILURES`` failures a minute, each with a limited number of characters."""

    def __init__(self) -> None:
        self._begun, self._count = 0.0, 0

    def print_exc(self) -> None:
        """Log the error being handled as one line; Gradio calls this in place of ``traceback``'s.

        Symptom: for invalid values, Gradio prints a traceback with these values. One address could
        write 150 MB a minute into the log, and forge lines.
        """
        self._log("A request failed: %s", ascii(repr(sys.exception()))[:LONGEST_FAILURE])
        log.debug("A request failed.", exc_info=True)

    def bug(self, error: Exception) -> None:
        """Log the end of the traceback of an error that is not the user's fault."""
        lines = "".join(traceback.format_exception(error, limit=-20))[-LONGEST_TRACEBACK:]
        self._log("unexpected failure\n%s", indent(printable(lines, keep="\n"), "    "))

    def filter(self, record: logging.LogRecord) -> bool:
        """Let an error of another logger through, such as uvicorn's, if it is within the limit.

        Symptom: every cancelled call wrote "ASGI callable returned without completing response".
        """
        return record.levelno < logging.ERROR or self._counted()

    def _log(self, text: str, detail: str) -> None:
        if self._counted():
            log.error(text, detail)

    def _counted(self) -> bool:
        """Count a failure; return whether it is to be logged."""
        now = time.monotonic()
        if now - self._begun > 60.0:
            self._begun, self._count = now, 0
        self._count += 1
        if self._count == FAILURES + 1:
            log.error("Further failures are not logged for up to a minute.")
        return self._count <= FAILURES


FAILURE_LOG = FailureLog()
