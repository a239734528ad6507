"""Fixture of the video decoders; a decoder without its package is skipped."""

import pytest

from gleanvid.video.decoders import BACKENDS


@pytest.fixture(params=BACKENDS)
def backend(request):
    pytest.importorskip(BACKENDS[request.param][0], exc_type=ImportError)
    return request.param
