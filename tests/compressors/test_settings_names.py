"""Settings written before a setting was renamed are read under the name it has now."""

import pytest

from gleanvid.compressors import COMPRESSORS, declared_settings, from_settings
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.vcast import VCast


@pytest.mark.parametrize("method", COMPRESSORS.values(), ids=str)
def test_an_earlier_name_stands_for_a_setting_and_is_none_itself(method):
    names = set(declared_settings(method))
    assert set(method.renamed.values()) <= names
    assert not set(method.renamed) & names


@pytest.mark.parametrize("method", COMPRESSORS.values(), ids=str)
def test_settings_make_their_compressor_again(method):
    assert from_settings(method().settings()) == method()


def test_settings_of_an_earlier_run_make_the_same_compressor():
    earlier = {"name": "gleanvid", "retention_ratio": 0.5, "temperature": 2.0, "history": 4}
    assert from_settings(earlier) == GleanVID(0.5, tau=2.0, novelty_history=4)
    own = {"name": "vcast", "temperature": 2.0}  # V-CAST calls it a temperature to this day
    assert from_settings(own) == VCast(temperature=2.0)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"name": "glean"}, "compressor='glean' must be one of full"),
        ({}, "compressor=None"),
        ({"name": "gleanvid", "tua": 2.0}, "gleanvid has no setting tua; it has retention_ratio"),
        ({"name": "gleanvid", "temperature": 0.0}, "tau=0.0 must be in"),
    ],
)
def test_what_describes_no_compressor_is_named(settings, named):
    with pytest.raises(ValueError, match=named):
        from_settings(settings)
