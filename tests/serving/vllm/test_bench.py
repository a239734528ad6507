import pytest

from gleanvid.cli import main
from gleanvid.evaluation.bench.bench_serve import measure, table
from gleanvid.serving.vllm.client import Server
from tests.serving.vllm.stand import standing
from tools import bench_vllm_stock


@pytest.fixture
def stand():
    with standing() as server:
        yield server


@pytest.fixture
def clips(tmp_path):
    (tmp_path / "clip.mp4").write_bytes(b"a video")
    return [tmp_path / "clip.mp4"]


def test_every_benchmark_request_sends_a_video_new_to_the_server(stand, clips):
    loads = list(measure(Server(stand.url), clips, [1, 3], requests=4, new_tokens=2))
    assert [(load.concurrency, load.requests) for load in loads] == [(1, 4), (3, 4)]
    assert {load.label for load in loads} == {"gleanvid 25%"} and loads[0].prompt_tokens == 130
    names = [asked["messages"][0]["content"][0]["uuid"] for asked in stand.asked]
    assert len(names) == len(set(names)) == 9  # 4 + 4 requests and a warm-up


def test_speed_ratios_compare_with_all_tokens_at_equal_concurrency(stand, clips):
    server = Server(stand.url)
    ours = list(measure(server, clips, [1, 3], requests=2, new_tokens=2))
    stand.told = None
    (whole,) = measure(server, clips, [1], requests=2, new_tokens=2)
    assert whole.label == "all tokens"
    text = table([whole, *ours])
    assert "(1.00x)" in text.splitlines()[2] and "x)" not in text.splitlines()[4]


def test_time_that_the_vllm_engine_spends_choosing_tokens_is_measured(stand, clips):
    stand.takes_s = 0.05
    (load,) = measure(Server(stand.url), clips, [1], requests=4, new_tokens=2)
    # fake server: of the 0.05 s of a request, half is choosing tokens
    assert load.choosing == pytest.approx(0.025 * load.requests_per_s) and 0 < load.choosing < 0.5
    stand.told = None
    (load,) = measure(Server(stand.url), clips, [1], requests=1, new_tokens=2)
    assert load.choosing == 0


def test_bench_vllm_measures_several_servers_and_writes_table_and_figure(stand, clips, tmp_path):
    words = ["bench", "serve", str(clips[0]), "--concurrency", "1", "--requests", "2"]
    assert main([*words, "--url", f"{stand.url},{stand.url}", "--out", str(tmp_path)]) == 0
    rows = (tmp_path / "serve.md").read_text().splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == ["gleanvid 25%"] * 2
    assert (tmp_path / "serve.png").stat().st_size > 1000


def test_servers_are_measured_alternately_and_compared_with_the_first_server(stand):
    servers = {name: Server(stand.url) for name in ("stock", "ours")}
    rates = bench_vllm_stock.in_turns(servers, [1, 2], rounds=2)
    assert {name: [*levels] for name, levels in rates.items()} == {name: [1, 2] for name in servers}
    assert all(len(found) == 2 for levels in rates.values() for found in levels.values())
    found = {"stock": {8: [4.0, 4.0]}, "ours": {8: [1.0, 3.0]}}
    rows = bench_vllm_stock.table(found).splitlines()[2:]
    assert [row.split("|")[-2].strip() for row in rows] == ["1.00x", "0.50x"]
