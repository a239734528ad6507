import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.server import serving
from components.viewer.modules import ADDRESS, SCRIPT, TEXTS


@pytest.fixture
def client():
    routes = serving.options("127.0.0.1", None, False)["app_kwargs"]["routes"]
    return TestClient(Starlette(routes=routes))


def test_script_of_all_modules_under_a_versioned_address_is_cacheable_for_ever(client):
    reply = client.get(ADDRESS)
    assert reply.text == SCRIPT and all(json.dumps(name) in SCRIPT for name in TEXTS)
    assert "immutable" in reply.headers["cache-control"]
    assert reply.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("path", ["modules/0123456789abcdef.js", "modules/..%2fstyle.css"])
def test_unknown_javascript_module_or_version_is_404(client, path):
    reply = client.get(path)
    assert reply.status_code == 404 and "cache-control" not in reply.headers


def test_modules_have_only_the_forms_of_import_and_export_that_are_joined():
    for line in SCRIPT.splitlines():
        assert not line.startswith(("import ", "export ")) or line == "export { parts };", line
