"""FastV against its authors' code: scoring, the k best, and what is left of the hidden states."""

import torch

from gleanvid.compressors.fastv import FastV
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, features, grid, rows


def test_case(fastv):
    visual, config = features(fastv), fastv["config"]
    before, count = config["text_before"], config["text_before"] + config["text_after"]
    attention = rows(fastv["seed"] + 2000, config["heads"], count + len(visual))
    attention = attention[:, None, before : before + len(visual)]
    tokens = VideoTokens(visual, grid(fastv), attention=attention)
    record = FastV(fastv["retention"], exact=False).compress(tokens)
    assert record.keep.tolist() == fastv["kept"]
    assert record.num_kept + count == fastv["position_ids_kept"]
    text = rows(fastv["seed"] + 1000, count, fastv["dim"])
    hidden = torch.cat([text[:before], record.apply(visual), text[before:]])
    assert_checksum(hidden, fastv["merged_checksum"])
