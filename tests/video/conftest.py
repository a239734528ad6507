"""The decoders, each where its package is installed."""

import pytest

PACKAGES = {"pyav": "av", "decord": "decord", "opencv": "cv2"}


@pytest.fixture(params=PACKAGES)
def backend(request):
    pytest.importorskip(PACKAGES[request.param])
    return request.param
