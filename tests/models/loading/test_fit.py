import pytest

from gleanvid.models.loading.fit import Memory, check_fit, memory, memory_gb
from gleanvid.models.loading.precision import PRECISIONS, split_precision, with_precision
from gleanvid.models.loading.registry import FIRST_CHOICES, checkpoint, first_choice

GB = 10**9


def gpu(free_gb):
    return Memory("cuda", int(free_gb * GB), int(free_gb * GB))


def test_free_memory_is_measured():
    found = memory("cpu")
    assert found.device == "cpu" and found.gpu_gb == 0
    assert 0 < found.free <= found.total


def test_memory_check_suggests_4_bit_where_it_helps():
    assert check_fit(8.8, "bf16", 32, gpu(24)).text == "fits this machine"
    assert check_fit(8.8, "auto", 32, gpu(16)).text == "too large: try 4-bit"
    assert check_fit(8.8, "4bit", 32, gpu(16)).ok
    assert check_fit(72, "auto", 32, gpu(24)).text == "too large"
    assert check_fit(8.8, "auto", 32, Memory("cpu", 20 * GB, 20 * GB)).text == "too large"
    assert check_fit(8.8, "auto", 32, Memory("cpu", None, None)).ok is None


def test_estimated_memory_grows_with_frames_and_bits():
    rising = [memory_gb(8, kind, 32, "cuda") for kind in ("4bit", "8bit", "bf16", "fp32")]
    assert rising == sorted(rising)
    assert memory_gb(8, "bf16", 64, "cuda") > memory_gb(8, "bf16", 32, "cuda") > 16
    assert memory_gb(8, "auto", 32, "cpu") == memory_gb(8, "fp32", 32, "cpu")
    with pytest.raises(ValueError, match="precision='2bit'"):
        memory_gb(8, "2bit", 32, "cuda")


@pytest.mark.parametrize(("size", "name"), FIRST_CHOICES)
def test_recommended_checkpoints_are_in_the_registry_and_fit_their_hardware(size, name):
    row = checkpoint(name)
    there = gpu(size) if size else Memory("cpu", 4 * GB, 8 * GB)
    assert first_choice(there.gpu_gb) == name
    assert check_fit(row.parameters or row.size, "auto", 32, there).ok


def test_model_name_with_precision_is_split_into_name_and_precision():
    for precision in PRECISIONS:
        assert split_precision(with_precision("a/b", precision)) == ("a/b", precision)
    assert split_precision("folder@home") == ("folder@home", "auto")
