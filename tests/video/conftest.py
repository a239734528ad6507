"""Fixture that runs a test with each video decoder whose package is installed."""

import pytest

from gleanvid.video.decoders import BACKENDS


@pytest.fixture(params=BACKENDS)
def backend(request):
    pytest.importorskip(BACKENDS[request.param][0], exc_type=ImportError)
    return request.param
