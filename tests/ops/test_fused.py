"""Fused steps give what the usual way gives; in Triton's interpreter, on a GPU where there is one.

The interpreter must be on before Triton is imported, hence a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gleanvid.ops import fused, scoring
from gleanvid.ops.fused import fused_steps

pytest.importorskip("triton")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def interpreted():
    surroundings = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "tests.ops.fused_cases"]
    done = subprocess.run(words, cwd=ROOT, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def failing(cases):
    return [(name, equal, error) for name, equal, error in cases if not equal or error > 1e-5]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "number"), [("choice", 36), ("factor", 12), ("norms", 6)])
def test_steps_are_equal_in_the_interpreter(interpreted, kind, number):
    found = [case for case in interpreted if case[0].startswith(kind)]
    assert len(found) == number and not failing(found)


@pytest.mark.slow
def test_clips_keep_the_same_and_every_launch_is_counted_once(interpreted):
    found = [case for case in interpreted if case[0].startswith("clip")]
    assert len(found) == 2 and not failing(found)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_steps_are_equal_on_a_gpu():
    from tests.ops.fused_cases import cases

    assert not failing(cases("cuda"))


def test_they_are_off_unless_asked_for_and_on_a_cpu_without_the_interpreter(monkeypatch):
    pytest.importorskip("triton")
    from gleanvid.ops import fused_launches

    called = []
    monkeypatch.setattr(fused_launches, "choose", lambda *_: called.append(1))
    monkeypatch.setattr(fused, "interpreted", lambda: True)
    values = torch.rand(9, dtype=torch.float64), torch.rand(9)
    scoring.chosen(*values, 1.0, 3)
    assert not called
    with fused_steps():
        scoring.chosen(*values, 1.0, 3)
        assert called == [1]
        monkeypatch.setattr(fused, "interpreted", lambda: False)
        assert scoring.chosen(*values, 1.0, 3).shape == (3,)
    monkeypatch.setattr(fused, "interpreted", lambda: True)
    scoring.chosen(*values, 1.0, 3)
    assert called == [1]


def test_without_triton_the_switch_says_so(monkeypatch):
    monkeypatch.setattr(fused, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match="need Triton"), fused_steps():
        pass
