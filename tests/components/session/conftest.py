from tests.hub_fixtures import hub, published  # noqa: F401
