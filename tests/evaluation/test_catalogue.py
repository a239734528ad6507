import json

import torch

from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.catalogue import methods, methods_table
from gleanvid.types import VideoTokens

FACTS = {facts.name: facts for facts in methods()}


def test_compressor_list_has_a_row_with_licence_for_every_compressor():
    assert list(FACTS) == list(COMPRESSORS)
    rows = [line for line in methods_table().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(COMPRESSORS)
    for row, method in zip(rows, COMPRESSORS.values(), strict=True):
        assert method.licence in row and method.not_ported in row
        assert f"| {method.reported} |" in row


def test_compressor_list_states_the_lowest_ratio_of_methods_that_refuse_low_ratios():
    signals = {"saliency": torch.rand(48), "keys": torch.rand(48, 4), "text": torch.rand(3, 8)}
    tokens = VideoTokens(torch.randn(48, 8), (4, 3, 4), **signals)
    for name, facts in FACTS.items():
        if facts.budget.startswith("to the token"):
            refused = False
            try:
                COMPRESSORS[name](retention_ratio=0.03).compress(tokens)
            except ValueError:
                refused = True
            assert refused == ("not below" in facts.budget), name


def test_methods_command_prints_a_table_or_json(capsys):
    assert main(["methods"]) == 0
    assert capsys.readouterr().out.strip() == methods_table()
    assert main(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(COMPRESSORS)
    assert rows[1]["acts"] == "before the language model" and rows[1]["vllm"] == "yes"
