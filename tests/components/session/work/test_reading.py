from __future__ import annotations

import pytest

from components.session.examples import examples
from gleanvid import COMPRESSORS, metrics, pipeline
from gleanvid.metrics import ROUNDING
from gleanvid.models.encoded import ClipKey

METHODS = ("gleanvid", "vidcom2", "vcast", "visionzip", "fastvid", "holitom", "flashvid",
           "prunevid", "uniform")  # fmt: skip


@pytest.fixture(scope="module")
def diagnostics_by_ratio():
    """Return diagnostics of every method on the first example, by retention ratio."""
    model = pipeline.load_model("builtin")
    video = pipeline.read_video(examples()[0].path, max_side=pipeline.MAX_SIDE)
    needs = frozenset[str]().union(*(COMPRESSORS[name]().needs for name in METHODS))
    tokens = pipeline.encode(ClipKey(video, model.name, signals=needs), model)[0].tokens
    features = metrics.debiased(tokens.features.float())

    def diagnosed(name, ratio):
        return metrics.diagnose(features, COMPRESSORS[name](ratio).compress(tokens))

    return {ratio: [diagnosed(name, ratio) for name in METHODS] for ratio in (0.1, 0.25)}


def test_kept_tokens_of_every_method_span_the_same_number_of_dimensions(diagnostics_by_ratio):
    for found in diagnostics_by_ratio.values():
        assert len({int(one.basis_rank[-1]) for one in found}) == 1


def test_coverage_error_is_left_out_once_kept_tokens_span_all_features(diagnostics_by_ratio):
    assert all(one.coverage_error < ROUNDING for one in diagnostics_by_ratio[0.25])
    assert all(
        one.coverage_vs_random != one.coverage_vs_random for one in diagnostics_by_ratio[0.25]
    )


def test_rank_and_coverage_relative_to_random_differ_widely_between_methods(diagnostics_by_ratio):
    for found in diagnostics_by_ratio.values():
        ranks = [one.rank_vs_random for one in found]
        assert min(ranks) < 1 and max(ranks) > 1.3
    missed = [one.coverage_vs_random for one in diagnostics_by_ratio[0.1]]
    assert min(missed) < 0.6 and max(missed) > 2


def test_first_unit_would_dominate_a_mean_of_residual_energy_over_all_units(diagnostics_by_ratio):
    for one in diagnostics_by_ratio[0.1]:
        assert one.residual_energy > 5 * one.later_residual_energy
