"""All scripts that CONTRIBUTING.md lists for its two journeys run in the browser.

A journey follows one action of a visitor through the code: its list has the scripts that send the
request and receive the answer, without those that only react to events.
"""

from __future__ import annotations

from itertools import accumulate

import pytest

from components.server.serving import ASSETS
from tests.browser.steps import answered, ask, named, slider
from tests.components.test_journeys import listed

PAGE = sorted(ASSETS.glob("page/*.js"))  # files that the app joins into one script of the page


def scripts_run_since_last_call(session):
    found = set()
    for script in session.send("Profiler.takePreciseCoverage")["result"]:
        module = script["url"].partition("/modules/")[2].partition("/")[2]
        is_page = any(part["functionName"].startswith("gleanvid.") for part in script["functions"])
        for function in script["functions"]:
            place = function["ranges"][0]
            if function["functionName"] and place["count"]:
                found.add(file_at(place["startOffset"]) if is_page else module)
    return {f"assets/{name}" for name in found}


def file_at(offset):
    """Return the file of ``assets/page`` that contains this offset of the joined script."""
    ends = accumulate(len(path.read_text("utf-8")) + 1 for path in PAGE)
    return next(
        (f"page/{path.name}" for path, end in zip(PAGE, ends, strict=True) if offset < end), ""
    )


@pytest.mark.parametrize("title", ["A question is asked", "Tau is moved"])
def test_scripts_listed_in_contributing_for_a_visitor_s_action_run_during_that_action(visit, title):
    session = visit.context.new_cdp_session(visit)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})
    scripts_run_since_last_call(session)
    if title == "Tau is moved":
        slider(visit, "tau").fill("12")
        named(visit, "b", "GleanVID 10 % · tau 12")
    else:
        ask(visit, "What else moves?")
        answered(visit)
    scripts = {name for name in listed(title) if name.startswith("assets/")}
    assert scripts and scripts <= scripts_run_since_last_call(session)
