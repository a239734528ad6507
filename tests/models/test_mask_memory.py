"""Where masks pair all tokens of a prompt, compression takes less memory, though not linear."""

import pytest

from tests.models.mask_memory import METHODS, PAIRING, peak_bytes


@pytest.mark.parametrize("family", PAIRING)
def test_a_quarter_of_the_tokens_needs_less_beside_the_whole_mask(adapters, family):
    """What is kept may hold a cut mask more, never more than all tokens hold."""
    (whole, columns), (cut, same) = (
        peak_bytes(adapters[family], 16, method) for method in METHODS.values()
    )
    assert columns == same
    assert columns**2 < cut < 0.9 * whole  # bytes: the mask of the whole prompt is there
