"""The key/value cache is found whether transformers names it cache or past_key_values."""

import pytest
from torch import nn

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.hooks import cache_argument
from gleanvid.models.hooks.decoding import passed_cache
from tests.models.conftest import few_families
from tests.models.tiny import noise_video


class Since524(nn.Module):
    def forward(self, hidden, cache=None, **kwargs):
        return hidden


class Before524(nn.Module):
    def forward(self, hidden, past_key_values=None, **kwargs):
        return hidden


@pytest.mark.parametrize(
    ("module", "name"), [(Since524(), "cache"), (Before524(), "past_key_values")]
)
def test_cache_is_passed_under_the_name_in_the_signature_of_forward(module, name):
    empty = []  # falsy, like an empty cache of transformers
    argument = cache_argument(module, empty)
    assert list(argument) == [name] and argument[name] is empty
    assert passed_cache(argument | {"use_cache": True}) is empty


@few_families
@pytest.mark.filterwarnings("error::FutureWarning")
def test_asking_and_scoring_use_no_argument_that_transformers_deprecates(adapter):
    talk = adapter.conversation(adapter.encode(noise_video()), GleanVID())
    talk.ask("What moves?", Sampling(2))
    assert len(talk.score("What moves?", ["red", "blue"])) == 2
