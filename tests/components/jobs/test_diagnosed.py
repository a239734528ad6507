from components.jobs.diagnosed import diagnosed
from gleanvid import GleanVID, Uniform
from gleanvid.metrics import diagnostics_of
from tests.components.fake import FakeBackend, moving_square, runs_of


def test_diagnostics_are_computed_once_for_runs_of_the_encoded_clip_alone():
    runs, tokens = runs_of(GleanVID(0.25), Uniform(0.25))
    first = diagnosed(runs, tokens)
    assert all(diagnostics_of(run) for run in first)
    assert diagnosed(first, tokens)[0] is first[0]
    assert diagnosed(runs, None) == runs
    other = FakeBackend().tokens(moving_square(4))
    assert diagnostics_of(diagnosed(runs, other)[0]) is None
