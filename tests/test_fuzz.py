"""Arbitrary input from strangers is accepted or refused with a message, never a crash.

Hypothesis replaces parts of valid input by junk: numbers of 400 digits, NaN, lone surrogates,
deeply nested lists. The examples are the same in every run.
"""

from __future__ import annotations

import json
import math
import threading
from contextlib import contextmanager
from functools import cache, partial

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.session.request import Request, make_compressor, pinned_settings
from components.session.work.engine import Engine
from gleanvid import Uniform
from gleanvid.compressors import COMPRESSORS
from gleanvid.run import Run
from tests.components.fake import FakeBackend, a_run, moving_square

few = partial(settings, suppress_health_check=[*HealthCheck])
DEEP = json.loads("[" * 200 + "]" * 200)
ODD = st.sampled_from(
    [10**400, -(10**400), math.nan, math.inf, 1e308, -1, 0, 2**63, 0.5, True, None, "\ud800", "",
     "\0", "x" * 20_000, "\x1b[2J", [], {}, DEEP, {"path": "/etc/passwd"}]
)  # fmt: skip
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JUNK = ODD | st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


@contextmanager
def refused(*kinds):
    """Context manager that accepts errors of these types, but only with a message."""
    try:
        yield
    except kinds as error:
        if not str(error):
            raise


@st.composite
def changed(draw, whole):
    """Draw a copy of the JSON value ``whole`` with one to three parts replaced or deleted."""
    for _ in range(draw(st.integers(1, 3))):
        whole = _changed(draw, whole)
    return whole


def _changed(draw, part):
    if not (isinstance(part, dict | list) and part) or draw(st.integers(0, 5)) == 0:
        return draw(JUNK)
    keys = list(part) if isinstance(part, dict) else range(len(part))
    key = draw(st.sampled_from(keys))
    new = dict(part) if isinstance(part, dict) else list(part)
    if draw(st.integers(0, 5)) == 0:
        del new[key]
    else:
        new[key] = _changed(draw, part[key])
    return new


@few(max_examples=40)
@given(st.sampled_from([*COMPRESSORS]), st.data())
def test_random_compressor_settings_are_accepted_or_refused_with_value_error(name, data):
    usual = COMPRESSORS[name]().settings()
    sent = data.draw(changed({key: value for key, value in usual.items() if key != "name"}))
    with refused(ValueError):
        made = make_compressor(name, sent if isinstance(sent, dict) else {})
        json.dumps(made.settings())
    pinned_settings(json.dumps(sent))


@cache
def a_saved_run(folder):
    video = moving_square(8)
    engine = Engine(FakeBackend())
    key = Request("x", 8, "builtin").clip(video)
    encoded = engine.backend.encode(key, engine.model("builtin"), threading.Event())
    method = Uniform(0.5)
    run = a_run(video, method.compress(encoded.tokens), method)
    run.save(folder)
    return json.loads((folder / "run.json").read_text()), dict(np.load(folder / "run.npz"))


@st.composite
def changed_arrays(draw, arrays):
    """Draw a copy of ``arrays``: up to two are missing or have another type, shape or values."""
    new = dict(arrays)
    for name in draw(st.lists(st.sampled_from(sorted(new)), max_size=2, unique=True)):
        array = new.pop(name)
        act = draw(st.sampled_from(["gone", "type", "short", "deep", "numbers", "none"]))
        if act == "type":
            new[name] = array.astype(draw(st.sampled_from(["bool", "int8", "float16", "uint64"])))
        elif act == "short":
            new[name] = array[:-1]
        elif act == "deep":
            new[name] = array[None]
        elif act == "none":
            new[name] = array[:0]
        elif act == "numbers":
            filled = draw(st.sampled_from([np.nan, np.inf, -1, 255, 1e30]))
            with np.errstate(all="ignore"):
                new[name] = np.full_like(array, filled if array.dtype.kind == "f" else 1)
    return new


@few(max_examples=50)
@given(data=st.data())
def test_randomly_changed_run_folders_are_loaded_or_refused(tmp_path_factory, data):
    base = tmp_path_factory.getbasetemp()
    facts, arrays = a_saved_run(base / "saved")
    folder = base / "changed"
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(data.draw(changed(facts))))
    np.savez(folder / "run.npz", **data.draw(changed_arrays(arrays)))
    packed = (folder / "run.npz").read_bytes()
    (folder / "run.npz").write_bytes(packed[: data.draw(st.sampled_from([None, 0, 100, -50]))])
    with refused(ValueError):
        Run.load(folder)
