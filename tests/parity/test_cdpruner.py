import pytest
import torch

from gleanvid.compressors.cdpruner import CDPruner
from gleanvid.types import VideoTokens
from tests.parity.checksums import clip


def kernel_of(features, text, theta):
    """Return CDPruner's kernel: cosine of two tokens times the relevance of both to the text."""
    features, text = features.double(), text.double()
    cosine = torch.nn.functional.cosine_similarity(features[:, None], features[None], dim=-1)
    mean = torch.nn.functional.cosine_similarity(features[:, None], text[None], dim=-1).mean(dim=1)
    relevance = (mean - mean.min()) / (mean.max() - mean.min())
    if theta < 1:
        relevance = torch.exp(theta / (2 * (1 - theta)) * relevance)
    return relevance[:, None] * cosine * relevance


def greedy(kernel, count):
    """Return ``count`` token indices; each gives the largest determinant of the kernel."""
    chosen = []
    for _ in range(count):
        volumes = [
            -1.0 if i in chosen else float(torch.det(kernel[[*chosen, i]][:, [*chosen, i]]))
            for i in range(len(kernel))
        ]
        chosen.append(max(range(len(kernel)), key=volumes.__getitem__))
    return chosen


@pytest.mark.parametrize("theta", [1.0, 0.5, 0.0])
@pytest.mark.parametrize(("seed", "grid", "count"), [(0, (3, 3, 4), 9), (1, (2, 2, 5), 5)])
def test_every_choice_of_cdpruner_raises_the_determinant_most(seed, grid, count, theta):
    features = clip(seed, grid)
    text = torch.randn(6, features.shape[1], generator=torch.Generator().manual_seed(seed))
    tokens = VideoTokens(features, grid, text=text)
    expected = sorted(greedy(kernel_of(features, text, theta), count))
    assert CDPruner(count / len(tokens), theta=theta).compress(tokens).keep.tolist() == expected


def test_cdpruner_fills_a_budget_beyond_the_rank_with_the_most_relevant_tokens():
    features = torch.eye(3).repeat(4, 1)
    text = torch.tensor([[3.0, 2.0, 1.0]])
    keep = CDPruner(5 / 12).compress(VideoTokens(features, (4, 1, 3), text=text)).keep
    # 0 and 1 span all relevant directions; 3, 6 and 9 are the most relevant of the rest
    assert keep.tolist() == [0, 1, 3, 6, 9]
