import torch
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.compressors.shared.ranking import most_similar, ranks, top_indices

SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


@given(scores=SCORES, data=st.data())
def test_top_indices_equal_the_first_of_a_stable_python_sort(scores, data):
    count = data.draw(st.integers(0, len(scores)))
    by_hand = sorted(sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:count])
    assert top_indices(torch.tensor(scores), count).tolist() == by_hand


@given(scores=SCORES)
def test_tokens_of_rank_below_k_are_the_top_k(scores):
    values = torch.tensor([scores, scores[::-1]])
    for count in range(len(scores) + 1):
        for row in range(2):
            chosen = torch.nonzero(ranks(values)[row] < count).flatten()
            assert torch.equal(chosen, top_indices(values[row], count))


def test_most_similar_token_does_not_depend_on_the_chunk_size():
    generator = torch.Generator().manual_seed(0)
    rows, others = (torch.randn(n, 6, generator=generator) for n in (23, 7))
    whole = torch.cosine_similarity(rows[:, None], others[None], dim=-1).argmax(dim=1)
    for chunk in (1, 5, 100):
        assert torch.equal(most_similar(rows, others, chunk), whole)
    assert len(most_similar(rows[:0], others)) == 0
