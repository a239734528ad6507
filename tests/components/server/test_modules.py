import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.places import ASSETS
from components.server import serving
from components.viewer.modules import TEXTS, VERSION, address


@pytest.fixture
def client():
    routes = serving.options("127.0.0.1", None, False)["app_kwargs"]["routes"]
    return TestClient(Starlette(routes=routes))


def test_javascript_module_under_a_versioned_address_is_cacheable_for_ever(client):
    for name in TEXTS:
        reply = client.get(address(name))
        assert reply.content == (ASSETS / name).read_bytes()
        assert "immutable" in reply.headers["cache-control"]
        assert reply.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "modules/0123456789abcdef/viewer/mount.js",
        f"modules/{VERSION}/viewer/../../README.md",
        f"modules/{VERSION}/viewer/..%2f..%2fstyle.css",
    ],
)
def test_unknown_javascript_module_or_version_is_404(client, path):
    reply = client.get(path)
    assert reply.status_code == 404 and "cache-control" not in reply.headers
