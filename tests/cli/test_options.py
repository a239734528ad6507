"""Options by the names that people type, and the ones that contradict each other."""

import argparse
from contextlib import suppress

import pytest

from gleanvid.cli import COMMANDS, main, parse
from gleanvid.cli.options import SAMPLING, sampling
from gleanvid.cli.parser import OTHER_NAMES
from gleanvid.compressors import COMPRESSORS, declared_settings

ASK = ["ask", "clip.mp4", "What?"]


def refusal(words, capsys):
    """Return what a command that is refused prints."""
    status = 2
    with suppress(SystemExit):
        status = main(words)
    assert status == 2
    return capsys.readouterr().err


@pytest.fixture
def parsers(monkeypatch):
    """Every parser of every command: name -> option -> its destination."""
    found = {}
    plain = argparse.ArgumentParser.parse_known_args

    def spy(self, *given):
        found[self.prog] = {flag: one.dest for one in self._actions for flag in one.option_strings}
        return plain(self, *given)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", spy)
    for name in COMMANDS.keys() - {"lmms-eval", "app"}:
        for words in ([name], [name, "make"], [name, "compress"], [name, "model"]):
            with pytest.raises(SystemExit):
                parse([*words, "--help-me-not"])
    return {name: options for name, options in found.items() if name.startswith("gleanvid ")}


def test_every_command_takes_both_names_of_an_option(parsers, capsys):
    assert {"gleanvid ask", "gleanvid eval", "gleanvid bench model"} <= parsers.keys()
    for options in parsers.values():
        for one, other in OTHER_NAMES.items():
            assert options.get(one) == options.get(other)


@pytest.mark.parametrize("name", SAMPLING)
def test_commands_that_answer_take_the_names_of_sampling_settings(name):
    flag = "--" + name.replace("_", "-")
    for command in (ASK, ["compare", *ASK[1:]], ["least", *ASK[1:]]):
        drawn = parse([*command, "--sampling-temperature", "1", flag, "1"])
        assert getattr(sampling(drawn), name) == 1
        if name != "temperature":
            with pytest.raises(ValueError, match="nothing without --temperature"):
                sampling(parse([*command, flag, "0.5" if name == "top_p" else "1"]))


@pytest.mark.parametrize("method", COMPRESSORS)
def test_a_name_of_two_settings_is_refused_and_both_can_be_set(method, capsys):
    for name in SAMPLING.keys() & declared_settings(COMPRESSORS[method]):
        told = refusal([*ASK, "--compressor", method, f"--{name}", "1"], capsys)
        assert f"write --sampling-{name}, or {method}({name}=...)" in told
        drawn = ["--sampling-temperature", "2", f"--sampling-{name}", "2"]
        options = parse([*ASK, *drawn, "--compressor", f"{method}({name}=1)"])
        assert (getattr(sampling(options), name), getattr(options, name)) == (2, 1)


CONTRADICTIONS = [
    "ask clip.mp4 What? --retention-ratio 0.1 --compressor gleanvid(0.2)",
    "ask clip.mp4 What? --tau 1 --compressor gleanvid(tau=2)",
    "compress clip.mp4 --out OUT --retention-ratio 0.1 --compressor gleanvid(0.2)",
    "compare clip.mp4 What? --retention-ratio 0.1 --compressor full,gleanvid(0.2)",
    "record clip.mp4 --out OUT --retention-ratio 0.2,0.1 --compressor gleanvid(0.2)",
    "eval --out OUT --retention-ratio 0.2,0.1 --compressor gleanvid(0.2)",
    "bench compress --retention-ratio 0.1 --compressor gleanvid(0.2)",
    "bench model --retention-ratio 0.1 --compressor gleanvid(0.2)",
]


@pytest.mark.parametrize("command", CONTRADICTIONS)
def test_a_setting_with_two_values_is_an_error(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clip.mp4").touch()
    told = refusal(command.replace("OUT", "out").split(), capsys)
    assert "has two values" in told or "but --compressor says" in told


def test_unknown_option_is_an_error_of_the_command_that_names_the_closest(capsys):
    told = refusal([*ASK, "--compresor", "full"], capsys)
    assert "gleanvid ask: error: unrecognized arguments: --compresor full; did you mean " in told
    assert told.endswith("did you mean --compressor?\n")
    assert "mean" not in refusal([*ASK, "--fast"], capsys)
