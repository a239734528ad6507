"""What ``gleanvid bench serve`` measures, on a stand-in for the server."""

import pytest

from gleanvid.evaluation.bench import bench_pauses, bench_serve
from gleanvid.serving.vllm.client import Server
from tests.serving.vllm.stand import standing


@pytest.fixture
def stand():
    with standing() as server:
        yield server


@pytest.fixture
def clips(tmp_path):
    (tmp_path / "clip.mp4").write_bytes(b"a video")
    return [tmp_path / "clip.mp4"]


def test_a_load_is_measured_and_kept_beside_others(stand, clips, tmp_path):
    server = Server(stand.url)
    loads = list(bench_serve.measure(server, clips, [1, 3], requests=4, new_tokens=2))
    assert [(load.concurrency, load.requests) for load in loads] == [(1, 4), (3, 4)]
    assert {load.label for load in loads} == {"gleanvid 25%"} and loads[0].prompt_tokens == 130
    names = [asked["messages"][0]["content"][0]["uuid"] for asked in stand.asked]
    assert len(names) == len(set(names)) == 9  # one to warm up
    bench_serve.save(loads, tmp_path)
    stand.told = None
    every = bench_serve.save(
        list(bench_serve.measure(server, clips, [1], requests=2, new_tokens=2)), tmp_path
    )
    assert [load.label for load in every] == ["all tokens", "gleanvid 25%", "gleanvid 25%"]
    text = bench_serve.table(every)
    assert "(1.00x)" in text.splitlines()[2] and "x)" not in text.splitlines()[4]
    assert bench_serve.save([], tmp_path) == bench_serve.read(tmp_path)


def test_the_share_of_time_in_which_the_engine_chose_is_told(stand, clips):
    stand.takes_s = 0.05
    (load,) = bench_serve.measure(Server(stand.url), clips, [1], requests=4, new_tokens=2)
    assert 0.25 < load.choosing < 0.5  # half of what a video takes
    stand.told = None
    (load,) = bench_serve.measure(Server(stand.url), clips, [1], requests=1, new_tokens=2)
    assert load.choosing == 0


def test_a_running_answer_pauses_while_a_video_is_taken_in(stand, clips, tmp_path):
    stand.takes_s, stand.next_record = 0.1, [{"grid": [4, 10, 10], "keep": [1]}] * 4
    found = bench_pauses.pauses(Server(stand.url), clips, videos=3)
    assert found.gap_s < 0.05 and 0.1 <= found.pause_s <= found.longest_s < 1
    assert found.choosing_s == pytest.approx(0.05)
    stories = [asked for asked in stand.asked if "uuid" not in asked["messages"][0]["content"][0]]
    assert len(stories) == 3 and len(stand.asked) == 7  # a video to warm up
    row = bench_pauses.table(bench_pauses.save([found], tmp_path)).splitlines()[-1]
    assert row.startswith("| gleanvid 25% | 3 |") and " 50.0 |" in row


def test_a_file_of_other_columns_is_left_alone(tmp_path):
    (tmp_path / bench_serve.NAME).write_text("label,kept\nours,0.5\n")
    with pytest.raises(ValueError, match="has other columns"):
        bench_serve.read(tmp_path)
