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
from tools.attack.requests import everything


@pytest.mark.parametrize(
    "url", ["http://example.org", "https://127.0.0.1:1", "http://10.0.0.1", "127.0.0.1:80", ""]
)
def test_attack_tool_refuses_addresses_of_other_machines(url):
    with pytest.raises(ValueError, match="on this machine"):
        attack.loopback(url)


# The rate limit has its own tests; here the attack would only wait for it.
PUBLIC = replace(serving.PUBLIC, requests_per_minute=6000)


# Kinds of attacks that no limit of a server and no choice of models can change.
SAME = {"closed routes", "long names", "odd pages", "bodies", "encodings", "odd requests"}
SAME |= {"odd paths", "slow clients"}


@pytest.mark.parametrize(
    "strict", [pytest.param(True, marks=pytest.mark.alone), False], ids=["public", "default"]
)
def test_server_withstands_every_attack_of_the_attack_tool(strict, capsys, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 3.0)
    monkeypatch.setattr(connections, "CHECK_S", 1.0)
    every = everything()
    assert {kind for kind, *_ in every} > SAME
    attempts = [one for one in every if strict or one[0] not in SAME]
    monkeypatch.setattr(attack, "everything", lambda: attempts)
    engine = Engine(FakeBackend())
    choosing = None if strict else Choosing(engine, ["builtin", "tiny/model"])
    limits = PUBLIC if strict else serving.LOCAL
    with uploads.own_folder():
        shown = examples.examples(as_served(examples.FOLDER))
        with running(limits, engine, choosing=choosing, examples=shown) as url:
            assert attack.main(["--url", url]) == 0, capsys.readouterr().out
