"""The sentences below the tables of ``gleanvid bench serve``, and the files it writes."""

import pytest

from gleanvid.cli import main
from gleanvid.evaluation.bench import bench_pauses, bench_serve
from gleanvid.evaluation.bench.bench_pauses import Pause
from gleanvid.evaluation.bench.bench_serve import Load
from gleanvid.evaluation.bench.serve_words import words_of_loads, words_of_pauses
from tests.serving.vllm.stand import standing


def load(label, kept, at_once, per_s, first_s, choosing=0.0):
    return Load(label, kept, at_once, 24, 100.0, per_s, first_s, first_s, 16 * per_s, choosing)


LOADS = [
    load("all tokens", 1.0, 1, 2.0, 0.5),
    load("all tokens", 1.0, 32, 4.0, 8.0),
    load("gleanvid 25%", 0.25, 1, 2.5, 0.4, 0.101),
    load("gleanvid 25%", 0.25, 8, 3.0, 2.0, 0.2),
    load("gleanvid 25%", 0.25, 32, 3.0, 10.0, 0.303),
]
PAUSES = [
    Pause("all tokens", 1.0, 8, 0.0111, 0.5, 0.9, 0.0),
    Pause("gleanvid 25%", 0.25, 8, 0.0122, 0.4, 0.7, 0.05),
]


def test_a_share_is_held_against_all_tokens_level_by_level():
    assert words_of_loads(LOADS) == (
        "Against all tokens; every row was measured once:\n\n"
        "- gleanvid 25%, 1 and 32 at once: 1.25x and 0.75x the requests a second; the first token "
        "after 0.80x and 1.25x the time; the engine's thread chose tokens for 10.1% and 30.3% of "
        "the time.\n"
    )


def test_without_all_tokens_there_is_nothing_to_hold_a_share_against():
    assert words_of_loads(LOADS[2:]) == words_of_loads(LOADS[:2]) == words_of_pauses([]) == ""


def test_a_pause_is_held_against_that_of_all_tokens_and_its_choice_against_the_pause():
    whole, quarter = words_of_pauses(PAUSES).splitlines()
    assert whole == (
        "With all tokens, an answer that runs stands still for 500 ms while a new video is taken "
        "in (median of 8; 11.1 ms between tokens otherwise)."
    )
    assert quarter.endswith(
        "stands still for 400 ms while a new video is taken in (median of 8; 12.2 ms between "
        "tokens otherwise), 0.80x that of all tokens; of this the choice of tokens is 50.0 ms, "
        "12.5%."
    )
    (alone,) = words_of_pauses(PAUSES[1:]).splitlines()
    assert "of all tokens" not in alone and alone.endswith("50.0 ms, 12.5%.")


@pytest.fixture
def command(tmp_path):
    (tmp_path / "clip.mp4").write_bytes(b"a video")
    more = ["--concurrency", "1", "--requests", "2", "--out", str(tmp_path)]
    return ["bench", "serve", str(tmp_path / "clip.mp4"), *more]


def test_the_command_writes_words_below_its_tables(command, tmp_path, capsys):
    with standing() as server:
        server.takes_s = 0.02
        assert main([*command, "--url", server.url, "--videos", "2"]) == 0
        server.told = None
        assert main([*command, "--url", server.url, "--videos", "2"]) == 0
    loads, found = bench_serve.read(tmp_path), bench_pauses.read(tmp_path)
    assert len(loads) == len(found) == 2
    shown = capsys.readouterr().out
    for name, words in (("serve.md", words_of_loads(loads)), ("pauses.md", words_of_pauses(found))):
        text = (tmp_path / name).read_text()
        assert words and text.endswith(f"\n\n{words}") and text in shown
    assert (tmp_path / "serve.png").stat().st_size > 1000


def test_pauses_can_be_left_out_and_those_of_the_folder_stay(command, tmp_path):
    bench_pauses.save(PAUSES, tmp_path)
    with standing() as server:
        assert main([*command, "--url", server.url, "--videos", "0"]) == 0
        assert not [one for one in server.asked if one["max_tokens"] == bench_pauses.LONGEST]
    assert bench_pauses.read(tmp_path) == PAUSES
    assert words_of_pauses(PAUSES) in (tmp_path / "pauses.md").read_text()
