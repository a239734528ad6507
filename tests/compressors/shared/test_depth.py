import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.compressors.shared.depth import rows_ahead, rows_for_average, scale_layer


@given(layer=st.integers(0, 27), num_layers=st.integers(2, 100))
def test_scaled_layer_index_is_valid_and_keeps_its_relative_depth(layer, num_layers):
    scaled = scale_layer(layer, num_layers)
    assert 0 <= scaled < num_layers and (scaled == 0) == (layer == 0)
    if 28 <= num_layers <= 36:
        assert scaled == layer
    elif layer:
        reference = 28 if num_layers < 28 else 36
        assert abs(scaled / num_layers - layer / reference) <= 1 / num_layers


@given(
    total=st.integers(1, 500),
    ratio=st.floats(0.01, 1.0),
    layer=st.integers(1, 27),
    share=st.floats(0.0, 1.0),
)
def test_stage_keeps_as_many_tokens_as_the_average_retention_over_the_layers_allows(
    total, ratio, layer, share
):
    rows, depth = max(1, int(share * total)), 28
    budget = ratio * depth * total
    if rows > 1 and layer * rows >= budget:
        with pytest.raises(ValueError, match=r"out of reach for It.*average of \d\.\d+"):
            rows_for_average(total, rows, ratio, layer, depth, "It")
        return
    left = rows_for_average(total, rows, ratio, layer, depth, "It")
    spent = layer * rows + (depth - layer) * left
    assert 1 <= left <= rows
    assert spent <= budget + 1e-6 or left == 1
    assert spent + (depth - layer) > budget - 1e-6 or left == rows


@given(
    total=st.integers(1, 500),
    ratio=st.floats(0.01, 1.0),
    layer=st.integers(1, 27),
    share=st.floats(0.0, 1.0),
)
def test_as_many_tokens_enter_the_model_as_the_average_retention_over_the_layers_allows(
    total, ratio, layer, share
):
    rows, depth = rows_ahead(total, ratio, layer, 28, share), layer + (28 - layer) * share
    assert 1 <= rows <= total
    assert rows * depth <= ratio * 28 * total + 1e-6 or rows == 1
    assert (rows + 1) * depth > ratio * 28 * total - 1e-6 or rows == total
