from dataclasses import replace

import pytest

from components.page.story import NO_STEP, busiest, story
from gleanvid import FullTokens, GleanVID, Uniform
from tests.components.fake import runs_of


def made(*methods):
    return runs_of(*methods)[0]


def test_step_by_step_explanation_of_a_run_contains_the_run_s_numbers():
    run, whole = made(GleanVID(0.25), FullTokens())
    told = story([whole, run])
    record, unit = run.compression, busiest(run)
    frames, novelty, budget, choice, cost = told["steps"]
    assert told["about"].startswith("GleanVID 25 %")
    assert f"{record.num_tokens:,} tokens" in frames["figures"] and frames["grid"] == [8, 14]
    assert f"{float(record.trace['novelty'][unit]):.3g}" in novelty["figures"]
    many = replace(record, trace=record.trace | {"novelty": 0 * record.trace["novelty"] + 1553.2})
    _, loud, *_ = story([whole, replace(run, by_layer={0: many})])["steps"]
    assert loud["figures"].endswith("has novelty 1,550; the median unit has 1,550.")
    assert budget["strip"]["values"] == record.budgets.tolist() and unit > 0
    assert f"keeps {record.budgets[unit]} of 112 tokens" in choice["figures"]
    assert [caption for caption, _ in choice["pictures"]] == ["LRS", "SCS", "joint score"]
    assert (
        "75 % fewer FLOPs" in cost["figures"] and "with all tokens: “A square.”" in cost["figures"]
    )


@pytest.mark.parametrize("method", [Uniform(0.25), FullTokens()])
def test_explanation_of_a_method_without_novelty_has_only_the_first_and_last_step(method):
    steps = story(made(method))["steps"]
    missing = NO_STEP.format(method=method.title)
    assert [step["figures"] == missing for step in steps] == [False, True, True, True, False]
