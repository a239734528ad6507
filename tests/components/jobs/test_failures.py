import logging

import pytest

from components.jobs.failures import FAILURES, LONGEST_TRACEBACK, FailureLog

JUNK = "\x1b]0;forged\nline"


@pytest.mark.parametrize("is_bug", [True, False])
def test_log_of_failures_is_limited_and_cannot_be_forged(caplog, is_bug):
    failures = FailureLog()
    for _ in range(2 * FAILURES):
        try:
            raise RuntimeError(JUNK * 1_000)
        except RuntimeError as error:
            failures.bug(error) if is_bug else failures.print_exc()
    assert len(caplog.records) == FAILURES + 1
    assert "not logged" in caplog.messages[-1] and "\x1b" not in caplog.text
    assert max(map(len, caplog.messages)) < 2 * LONGEST_TRACEBACK
    lines = [line for text in caplog.messages for line in text.splitlines()[1:]]
    assert all(line.startswith("    ") for line in lines)


def test_errors_of_the_server_that_visitors_cause_count_as_failures(caplog):
    server = logging.getLogger("a server")
    failures = FailureLog()
    server.addFilter(failures)
    caplog.set_level(logging.INFO, "a server")
    for _ in range(2 * FAILURES):
        server.error("ASGI callable returned without completing response.")
    failures.bug(RuntimeError("one more"))
    server.info("still running")
    assert len(caplog.records) == FAILURES + 2 and caplog.messages[-1] == "still running"
