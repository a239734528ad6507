import pytest

from gleanvid.compressors import COMPRESSORS, from_settings


def test_every_method_declares_a_title_that_no_other_method_has():
    titles = {method.title for method in COMPRESSORS.values()}
    assert all("title" in vars(method) for method in COMPRESSORS.values())
    assert len(titles) == len(COMPRESSORS)


@pytest.mark.parametrize("method", COMPRESSORS.values(), ids=str)
def test_compressor_is_rebuilt_from_its_settings(method):
    assert from_settings(method().settings()) == method()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"name": "glean"}, "compressor='glean' must be one of full"),
        ({}, "compressor=None"),
        ({"name": "gleanvid", "tua": 2.0}, "gleanvid has no setting tua; it has retention_ratio"),
        ({"name": "gleanvid", "tau": 0.0}, "tau=0.0 must be in"),
    ],
)
def test_error_names_the_invalid_compressor_setting(settings, named):
    with pytest.raises(ValueError, match=named):
        from_settings(settings)
