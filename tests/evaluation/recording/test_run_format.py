"""The description of a saved run's arrays, from which this module makes whole and odd runs."""

import json

import numpy as np
import pytest

from components.jobs.store import RunStore
from gleanvid import GleanVID
from gleanvid.errors import MALFORMED
from gleanvid.evaluation.recording.run_format import ARRAYS, check_run
from gleanvid.run import Run
from tests.components.fake import runs_of

FREE = 1000  # length of the sides that the description leaves free


def described():
    """Return the JSON of a run and one array for every line of the description."""
    (run,), _ = runs_of(GleanVID(0.25))
    arrays = run.arrays()
    sizes = {"F": len(run.video), "T": 4, "N": 112, "L": 448, "K": 112, "2": 2, "3": 3, "4": 4}
    for pattern, (types, shapes, _) in ARRAYS.items():
        name = pattern.replace("LAYER", "0").replace("NAME", "other")
        side = [sizes.get(letter, FREE) for letter in shapes[-1].split()]
        arrays.setdefault(name, np.zeros(side, types.partition(",")[0]))
    arrays["0/mixing/places"] = np.stack([np.arange(FREE) % 112, np.arange(FREE) % 448])
    return json.loads(json.dumps(run.summary())), arrays


def test_run_with_every_array_of_the_description_passes_and_counts_all_its_bytes():
    facts, arrays = described()
    run, store = Run.of(facts, arrays), RunStore()
    check_run(run)
    assert run.arrays().keys() == arrays.keys()
    store.add(run)
    received = sum(array.nbytes for array in run.arrays().values()) + len(json.dumps(facts))
    assert store.nbytes() >= received


def oddities(name, array):
    yield "shape", array[..., None]
    yield "length", np.concatenate([array] * 9) if array.ndim else np.zeros(9, array.dtype)
    if name != "0/mixing/places":  # torch reads any integers
        yield "type", array.astype(np.uint16)
    if array.dtype.kind == "f" and "diagnostics" not in name:
        yield "NaN", np.full_like(array, np.nan)
        yield "huge", np.full_like(array, 1e30)


@pytest.mark.parametrize("name", described()[1])
def test_array_of_another_shape_type_or_range_is_refused(name):
    facts, arrays = described()
    for what, odd in oddities(name, arrays[name]):
        if what == "length" and name.startswith(("0/state/", "0/mixing/")):
            continue  # the description leaves this length free
        try:
            check_run(Run.of(facts, arrays | {name: odd}))
        except MALFORMED:
            continue
        pytest.fail(f"{name}, another {what}")


@pytest.mark.parametrize("missing", ["novelty", "share", "gini", "alpha"])
def test_trace_without_one_of_the_values_of_a_budget_is_refused(missing):
    facts, arrays = described()
    del arrays[f"0/trace/{missing}"]
    with pytest.raises(ValueError, match="trace lacks"):
        check_run(Run.of(facts, arrays))


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "a\n", "C:\\x", "\u202ea"], ids=repr)
def test_name_that_is_not_a_plain_file_name_is_refused(name):
    facts, arrays = described()
    with pytest.raises(ValueError, match="unknown array"):
        check_run(Run.of(facts, arrays | {f"0/scores/{name}": arrays["0/scores/other"]}))
    with pytest.raises(ValueError, match="name of the compressor"):
        check_run(Run.of(facts | {"compressor": {"name": name}}, arrays))
