import json
import os
import sys
from pathlib import Path

import pytest

from gleanvid.cli import main

PROGRAM = """\
import json, os, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--output_path") + 1]) / "model"
(folder.parent / "given.json").write_text(json.dumps(sys.argv[1:]))
report = {said}
if report is not None:
    folder.mkdir(exist_ok=True)
    (folder / f"{{os.getpid()}}_results.json").write_text(json.dumps(report))
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    def run(said, *more):
        home = tmp_path / "program" / "lmms_eval"
        home.mkdir(parents=True, exist_ok=True)
        (home / "__init__.py").touch()
        (home / "__main__.py").write_text(PROGRAM.format(said=said))
        # __main__.py is rewritten within a second, so Python would run its outdated bytecode
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        monkeypatch.syspath_prepend(home.parent)
        paths = [str(home.parent), os.environ.get("PYTHONPATH", "")]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        return main(["lmms-eval", "--model", "x", *more, "--output_path", str(out)]), out

    return run


def test_arguments_are_passed_to_lmms_eval_with_a_journal_added(run):
    code, out = run({"results": {}}, "--model_args", "pretrained=a,retention_ratio=0.5", "-v")
    given = json.loads((out / "given.json").read_text())
    said = f"pretrained=a,retention_ratio=0.5,journal={out}"
    assert given == ["--model", "x", "-v", "--model_args", said, "--output_path", str(out)]
    assert code == 0


def test_failed_questions_or_missing_results_make_the_exit_code_nonzero(run, capfd):
    assert run({"throughput": {"avg_failed": 2.0}}, "--model_args", "pretrained=a")[0] == 1
    assert "questions failed and count as wrong" in capfd.readouterr().err
    assert run({"throughput": {"avg_failed": 0.0}}, "--model_args", "pretrained=a")[0] == 0
    # the results left in the folder by the previous run do not count
    assert run(None, "--model_args", "pretrained=a")[0] == 1
    assert "ended without results" in capfd.readouterr().err


def test_missing_lmms_eval_package_or_arguments_are_reported_by_name(run, monkeypatch, capsys):
    assert run({})[0] == 2
    assert "needs --output_path DIR and --model_args" in capsys.readouterr().err
    monkeypatch.setattr("gleanvid.cli.lmms_eval.find_spec", lambda _: None)
    assert main(["lmms-eval", "--model_args", "a=b", "--output_path", sys.prefix]) == 2
    assert "pip install '.[eval]'" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_needs_no_package(word, monkeypatch, capsys):
    monkeypatch.setattr("gleanvid.cli.lmms_eval.find_spec", lambda _: None)
    assert main(["lmms-eval", word]) == 0
    told = capsys.readouterr().out
    assert "usage: gleanvid lmms-eval --model MODEL" in told and "pip install '.[eval]'" in told


def test_help_goes_on_with_that_of_lmms_eval(run, capfd):
    run(None, "--model_args", "pretrained=a")  # puts a stand-in for the package on the path
    home = Path(os.environ["PYTHONPATH"].split(os.pathsep)[0])
    (home / "lmms_eval" / "__main__.py").write_text("print('options of LMMs-Eval')")
    assert main(["lmms-eval", "--help"]) == 0
    assert capfd.readouterr().out.endswith("those of LMMs-Eval:\n\noptions of LMMs-Eval\n")
