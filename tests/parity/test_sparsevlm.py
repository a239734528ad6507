"""SparseVLM agrees with its authors' code: chosen text tokens, three stages, merged tokens.

A fake language model, whose layers change nothing, runs the stages. The authors' code puts merged
("recycled") tokens after the kept ones, our record sorts all by index. So the test reorders the
visual tokens in the attention that it gives to a stage.
"""

import torch

from gleanvid.compressors.sparsevlm import SparseVLM, keep_counts
from gleanvid.types import VideoTokens
from tests.compressors.identity_layers import pass_through
from tests.parity.checksums import assert_checksum, features, grid, rows


def test_sparsevlm_matches_its_authors_code(sparsevlm):
    case, config, visual = sparsevlm, sparsevlm["config"], features(sparsevlm)
    before, after, heads = config["text_before"], config["text_after"], config["heads"]
    layers = [layer + 1 for layer in config["prune_after_layers"]]
    counts = keep_counts(len(visual), case["retention"], config["num_layers"], exact=False)
    assert [counts[layer] for layer in layers] == config["keep_counts"]
    order = torch.arange(len(visual))  # flat token indices in the order of the original code
    survivors = []  # tokens that no stage so far has dropped or merged

    def attention(stage, left, previous):
        nonlocal order
        order = original_order(order, previous)
        total = before + after + len(left)
        made = rows(case["seed"] + 1999 + stage, heads * after, total)
        made = made.view(heads, after, total)[..., before : before + len(left)]
        return made[..., torch.argsort(order)]

    text = 8 * rows(case["seed"] + 1000, before + after, case["dim"])
    method = SparseVLM(case["retention"], num_layers=config["num_layers"], exact=False)
    tokens = VideoTokens(visual, grid(case), text=text[before:])
    result = pass_through(method, tokens, config["num_layers"], attention)
    record, *stages = result.by_layer.values()
    assert record.state["raters"].tolist() == case["text_raters"]
    for stage, expected in zip(stages, case["stages"], strict=True):
        record = record.then(stage)
        survivors = record.keep[record.weight[record.keep] == 1].tolist()
        assert survivors == expected["kept"]
        assert record.num_kept == expected["visual_tokens"]
        assert int(recycled(stage).sum()) == expected["recycled"]
    assert survivors == case["kept"]
    # output tokens of all stages in turn, and of the one compression record that combines them
    for out in (result.hidden, result.record.apply(visual)):
        hidden = torch.cat([text[:before], out, text[before:]])
        assert_checksum(hidden, case["merged_checksum"])


def recycled(record):
    """Return which of the K output tokens a stage has merged from dropped tokens, bool [K]."""
    return record.weight[record.keep] != 1


def original_order(order, previous):
    """Return the tokens in the order of the authors' code: kept ones, then merged clusters.

    Clusters are ordered by descending peak score, those with equal scores by descending attention.
    """
    if "peak" not in previous.scores:
        return order
    merged, left = recycled(previous), order.sort().values[previous.keep]
    attention, peak = (previous.scores[name][previous.keep] for name in ("attention", "peak"))
    places = torch.nonzero(merged).squeeze(1)
    places = places[torch.sort(attention[places], descending=True, stable=True).indices]
    places = places[torch.sort(peak[places], descending=True, stable=True).indices]
    clusters = left[places]
    return torch.cat([order[torch.isin(order, left[~merged])], clusters])
