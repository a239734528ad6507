"""Everything that stands in for the library has the functions that the engine calls."""

import inspect

import pytest

from components.server.zero import ZeroGpuBackend
from components.session.work.backend import Backend
from gleanvid import pipeline
from tests.components import fake

CALLS = {name: call for name, call in vars(Backend).items() if inspect.isfunction(call)}
CALLS = {name: call for name, call in CALLS.items() if not name.startswith("_")}
STAND_INS = {
    "pipeline": pipeline,
    "fake": fake.FakeBackend(),
    "zero_gpu": ZeroGpuBackend(fake.FakeBackend(), lambda work: work),
}


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("stand_in", STAND_INS.values(), ids=STAND_INS)
def test_a_stand_in_takes_what_the_engine_hands_over(stand_in, name):
    given = [p for p in inspect.signature(CALLS[name]).parameters.values() if p.name != "self"]
    positional = [p.name for p in given if p.kind != p.KEYWORD_ONLY]
    keywords = {p.name: None for p in given if p.kind == p.KEYWORD_ONLY}
    inspect.signature(getattr(stand_in, name)).bind(*positional, **keywords)
    assert isinstance(stand_in.MAX_SIDE, int)


def test_the_protocol_names_what_the_engine_calls():
    assert set(CALLS) == {
        "encode",
        "load_model",
        "read_video",
        "remembered",
        "score",
        "stream_answer",
    }
