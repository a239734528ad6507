import numpy as np
from scipy import stats

from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings
from tools.budget_events import EVENTS, METHODS, RATIOS, auc, events, table


def test_auc_equals_the_mann_whitney_statistic():
    budgets = np.random.default_rng(0).integers(0, 5, 16).tolist()
    happens, quiet = {2, 7, 9}, {1, 3, 4, 12, 15}
    some, others = ([budgets[unit] for unit in units] for units in (happens, quiet))
    theirs = stats.mannwhitneyu(some, others).statistic / (len(some) * len(others))
    assert auc(budgets, happens, quiet) == theirs
    assert auc(budgets, set(), quiet) is None and auc(budgets, happens, set()) is None


def test_listed_events_match_what_the_generated_scene_shows():
    seen = dict.fromkeys(EVENTS, 0)
    for number in range(40):
        scene = sample_scene(3, "test", number, ClipSettings())
        told = events(scene)
        for kind in EVENTS:
            seen[kind] += len(told[kind])
        for unit in told["appearance"] | told["flash"]:
            middle = (unit + 0.5) / 16
            before = (unit - 0.5) / 16
            assert any(t.visible(middle) and not t.visible(before) for t in scene.things)
        assert len(told["cut"]) == len(scene.shots) - 1
    assert all(seen.values())


def test_table_lists_each_method_s_auc_for_events_with_a_confidence_interval():
    rows = [
        {"clip": clip, "ratio": ratio, "method": name, "event": "cut", "auc": value}
        for clip in range(40)
        for ratio in RATIOS
        for name in METHODS
        for value in [0.9 if name == "gleanvid" else 0.5 if name == "random" else 0.9]
    ]
    text = table(rows)
    assert "0.90 (0.90 to 0.90)" in text and "Clips with each event: cut 40." in text
    told = text.splitlines()[-1]
    assert told == (
        "- 10%, cut: ahead of Random; not told apart from VidCom2, V-CAST, EVS, DivPrune, FLoC, "
        "Pairwise gain."
    )
