import json

from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.catalogue import methods, methods_table

FACTS = {facts.name: facts for facts in methods()}


def test_compressor_list_has_a_row_with_licence_for_every_compressor():
    assert list(FACTS) == list(COMPRESSORS)
    rows = [line for line in methods_table().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(COMPRESSORS)
    for row, method in zip(rows, COMPRESSORS.values(), strict=True):
        assert method.licence in row and method.not_ported in row
        assert f"| {method.reported} |" in row


def test_methods_command_prints_a_table_or_json(capsys):
    assert main(["methods"]) == 0
    assert capsys.readouterr().out.strip() == methods_table()
    assert main(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(COMPRESSORS)
    assert rows[1]["acts"] == "before the language model" and rows[1]["vllm"] == "yes"
