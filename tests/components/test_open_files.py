from argparse import Namespace

import pytest

from components import launch

resource = pytest.importorskip("resource")


@pytest.mark.parametrize("hard", [1024, 4096, 100_000, resource.RLIM_INFINITY])
@pytest.mark.parametrize("public", [True, False])
def test_public_server_has_enough_open_files_or_says_what_to_type(monkeypatch, hard, public):
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, given: asked.append(given))
    options = Namespace(public=public, share=False)
    if public and hard == 1024:
        with pytest.raises(SystemExit, match="ulimit -n 4096"):
            launch.reserve_files(options)
    else:
        launch.reserve_files(options)
    assert asked == ([] if hard == 1024 else [(4096, hard)])
