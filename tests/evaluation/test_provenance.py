"""Result files name the command and the model without any path of the machine."""

import pytest
import torch

from gleanvid.evaluation.provenance import (
    caution,
    describe_machine,
    in_words,
    public_command,
    public_name,
)


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("~/models/x", "x"), ("/home/person/x/", "x"), ("~a/x", "x"), ("assets/clips", "clips"),
        ("owner/model@4bit", "owner/model@4bit"), ("builtin", "builtin"),
        ("vllm:http://127.0.0.1:8000", "vllm:http://127.0.0.1:8000"),
    ],
)  # fmt: skip
def test_stored_model_name_contains_no_folders(name, public):
    assert public_name(name) == public


def test_stored_command_line_contains_no_folders():
    words = ["gleanvid", "eval", "--model=~/m", "--data", "/home/person/data", "--limit=4", "a b"]
    assert public_command(words) == "gleanvid eval --model=m --data data --limit=4 'a b'"
    # relative paths are stored whole, so that the command can be run again in the repository
    words = ["gleanvid", "eval", "--out", "assets/clips"]
    assert public_command(words) == "gleanvid eval --out assets/clips"


def test_busy_machine_is_said_to_make_times_unreliable():
    machine = describe_machine(torch.device("cpu")) | {"cpu_cores": 2, "load_average": 2.0}
    assert caution(machine) == ()
    assert caution(machine | {"load_average": None}) == ()
    assert ", 1 thread, " in in_words(machine | {"threads": 1})
    assert ", 2 threads, " in in_words(machine | {"threads": 2})
    (said,) = caution(machine | {"load_average": 7.5})
    assert "load 7.5 on 2 cores" in said
