from __future__ import annotations

from dataclasses import replace

import pytest

from components.places import as_served
from components.server import connections, serving, uploads
from components.session import examples
from components.session.choice.choosing import Choosing
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend
from tests.server.running import running
from tools.attack import __main__ as attack


@pytest.mark.parametrize(
    "url", ["http://example.org", "https://127.0.0.1:1", "http://10.0.0.1", "127.0.0.1:80", ""]
)
def test_attack_tool_refuses_addresses_of_other_machines(url):
    with pytest.raises(ValueError, match="on this machine"):
        attack.loopback(url)


# The rate limit has its own tests; here the attack would only wait for it.
PUBLIC = replace(serving.PUBLIC, requests_per_minute=6000)


@pytest.mark.parametrize("strict", [True, False], ids=["public", "default"])
def test_server_withstands_every_attack_of_the_attack_tool(strict, capsys, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 3.0)
    monkeypatch.setattr(connections, "CHECK_S", 1.0)
    engine = Engine(FakeBackend())
    choosing = None if strict else Choosing(engine, ["builtin", "tiny/model"])
    limits = PUBLIC if strict else serving.LOCAL
    with uploads.own_folder():
        shown = examples.examples(as_served(examples.FOLDER))
        with running(limits, engine, choosing=choosing, examples=shown) as url:
            assert attack.main(["--url", url]) == 0, capsys.readouterr().out
