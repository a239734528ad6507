"""What result files say of a command and a model: nothing about the folders of the machine."""

import pytest

from gleanvid.evaluation.provenance import public_command, public_name


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("~/models/x", "x"), ("/home/person/x/", "x"), ("~a/x", "x"), ("assets/clips", "clips"),
        ("owner/model@4bit", "owner/model@4bit"), ("builtin", "builtin"),
        ("vllm:http://127.0.0.1:8000", "vllm:http://127.0.0.1:8000"),
    ],
)  # fmt: skip
def test_folders_of_a_name_are_left_out(name, public):
    assert public_name(name) == public


def test_folders_of_a_command_are_left_out():
    words = ["gleanvid", "eval", "--model=~/m", "--data", "/home/person/data", "--limit=4", "a b"]
    assert public_command(words) == "gleanvid eval --model=m --data data --limit=4 'a b'"
    words = ["gleanvid", "eval", "--out", "assets/clips"]  # such a command can be run again
    assert public_command(words) == "gleanvid eval --out assets/clips"
