from types import SimpleNamespace

import pytest

from gleanvid.cost import prefill_flops


def config(layers, hidden, width, heads, groups, head_dim=128):
    return SimpleNamespace(
        num_hidden_layers=layers,
        hidden_size=hidden,
        intermediate_size=width,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        head_dim=head_dim,
    )


MODELS = {
    "2B": config(28, 2048, 6144, 16, 8),
    "4B": config(36, 2560, 9728, 32, 8),
    "8B": config(36, 4096, 12288, 32, 8),
    "32B": config(64, 5120, 25600, 64, 8),
    "7B": config(28, 3584, 18944, 28, 4),
}
# Model, number of tokens, cost with all tokens in 10^12 multiply-adds, and cost in % of that if
# 50, 25, 20, 15 or 10 % of the tokens are kept.
TABLE = [
    ("2B", 11520, 31.5, (37.9, 15.9, 12.3, 8.8, 5.6)),
    ("4B", 11520, 62.2, (40.2, 17.6, 13.7, 10.0, 6.5)),
    ("8B", 11520, 119.2, (41.8, 18.8, 14.7, 10.8, 7.0)),
    ("8B", 23040, 316.6, (37.6, 15.7, 12.1, 8.7, 5.5)),
    ("32B", 11520, 420.4, (44.8, 21.1, 16.7, 12.4, 8.1)),
    ("7B", 6272, 48.8, (46.0, 22.0, 17.4, 12.9, 8.5)),
    ("7B", 10816, 94.1, (43.8, 20.3, 16.0, 11.8, 7.7)),
]


@pytest.mark.parametrize(("model", "n", "tera", "shares"), TABLE)
def test_flops_formula_matches_the_paper_s_table(model, n, tera, shares):
    full = prefill_flops(MODELS[model], n)
    assert full / 1e12 == pytest.approx(tera, abs=0.051)
    for ratio, share in zip((0.5, 0.25, 0.2, 0.15, 0.1), shares, strict=True):
        part = prefill_flops(MODELS[model], int(ratio * n))
        assert 100 * part / full == pytest.approx(share, abs=0.051)
