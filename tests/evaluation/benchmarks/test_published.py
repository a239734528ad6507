import json

import pytest

from gleanvid.evaluation.benchmarks import BenchmarkError, open_benchmark
from gleanvid.evaluation.benchmarks.mvbench import TASKS
from gleanvid.types import VideoError
from tests.evaluation.benchmarks import folders
from tests.video.clips import numbers

SOME = ",".join(folders.MVBENCH)
MAKERS = {
    "mvbench": (folders.mvbench, {"tasks": SOME}),
    "longvideobench": (folders.longvideobench, {}),
    "mlvu": (folders.mlvu, {}),
    "mlvu_test": (folders.mlvu_test, {}),
    "videomme": (folders.videomme, {}),
}


def opened(name, root):
    make, settings = MAKERS[name]
    return open_benchmark(name, data=str(make(root)), **settings)


@pytest.mark.parametrize("name", MAKERS)
def test_published_benchmark_loads_questions_and_clips_and_judges_answers(name, tmp_path):
    benchmark = opened(name, tmp_path)
    items = benchmark.items()
    assert len({item.id for item in items}) == len(items) >= 2
    for item in items:
        right = "ABCDE"[item.answer]
        assert benchmark.right(item, right)
        assert benchmark.right(item, f"({right})")
        assert not benchmark.right(item, "ABCDE"[item.answer - 1])
        assert set(item.groups) <= set(benchmark.columns)
        assert item.question in benchmark.prompt(item)
        assert all(option in benchmark.prompt(item) for option in item.options)
    video = benchmark.video(items[0].clip, 4)
    assert numbers(video.frames) == [0, 6, 13, 19]
    assert benchmark.items(limit=1, seed=3) == benchmark.items(limit=1, seed=3)


LETTER = "Answer with the option's letter from the given choices directly."
# (benchmark, its settings, index of the question, exact prompt of LMMs-Eval)
PROMPTS = [
    (
        "mvbench",
        {},
        0,
        "Question:What happened in action_sequence 0?\nOption:\n(A) a door opened\n(B) nothing\n"
        "(C) a cup fell\nOnly give the best option.\n",
    ),
    (
        "longvideobench",
        {},
        0,
        "When the subtitle says 'hello', what is shown?\nA. a cat\nB. a dog\nC. a tree\nD. a bird\n"
        f"E. a fish\n{LETTER}\n",
    ),
    ("longvideobench", {}, 1, f"Who came first?\nA. Ann\nB. Bob\n{LETTER}\n"),
    (
        "mlvu",
        {},
        0,
        "What colour is it 0?\n(A) Yellow\n(B) Red\n(C) Green\n(D) Blue\n"
        "Only give the best option.\nBest option: (",
    ),
    ("mlvu_test", {}, 1, "What colour is it 1?\n(A) Yellow\n(B) Red\n(C) Green\n(D) Blue"),
    (
        "videomme",
        {},
        0,
        "Select the best answer to the following multiple-choice question based on the video and "
        "the subtitles. Respond with only the letter (A, B, C, or D) of the correct option.\n"
        "How many apples are there 0?\nA. One.\nB. Two.\nC. Three.\nD. Four.\n\n" + LETTER,
    ),
    (
        "videomme",
        {"style": "qwen3_vl"},
        3,
        "Question: How many apples are there 3?\nOptions:\nA. One.\nB. Two.\nC. Three.\nD. Four.\n"
        "Answer with the option letter only.",
    ),
]
TOKENS = {"mvbench": 16, "longvideobench": 32, "mlvu": 16, "mlvu_test": 16, "videomme": 16}


@pytest.mark.parametrize(("name", "settings", "number", "prompt"), PROMPTS)
def test_prompt_and_answer_length_equal_those_of_lmms_eval(
    name, settings, number, prompt, tmp_path
):
    make, own = MAKERS[name]
    benchmark = open_benchmark(name, data=str(make(tmp_path)), **own, **settings)
    assert benchmark.prompt(benchmark.items()[number]) == prompt
    assert benchmark.max_new_tokens == TOKENS[name]


@pytest.mark.parametrize(
    ("setting", "model_type", "message"),
    [
        ("lmms-eval", "qwen3_vl", "You are a helpful assistant."),
        ("lmms-eval", "qwen3_vl_moe", "You are a helpful assistant."),
        ("lmms-eval", "llava_onevision", ""),
        ("none", "qwen3_vl", ""),
        ("Be brief.", "llava_onevision", "Be brief."),
    ],
)
def test_qwen3_vl_gets_the_system_message_of_lmms_eval(setting, model_type, message, tmp_path):
    folder = str(folders.videomme(tmp_path))
    benchmark = open_benchmark("videomme", data=folder, system_message=setting)
    assert benchmark.system_message_for(model_type) == message
    # the system message is a benchmark setting: runs that differ in it share no file of answers
    assert benchmark.settings()["system_message"] == setting
    assert open_benchmark("glimpse").system_message_for(model_type) == ""


@pytest.mark.parametrize("name", MAKERS)
def test_missing_videos_are_counted_and_the_first_is_named(name, tmp_path):
    benchmark = opened(name, tmp_path)
    lost = benchmark.items()[-1].clip
    (tmp_path / lost).unlink()
    with pytest.raises(BenchmarkError, match=r"1 of \d+ videos of .* are missing") as caught:
        benchmark.items()
    assert lost.rpartition("/")[2].partition(".")[0] in str(caught.value)


@pytest.mark.parametrize("name", MAKERS)
def test_benchmark_folder_that_is_missing_or_has_no_annotations_is_refused(name, tmp_path):
    with pytest.raises(BenchmarkError, match=r"holds no annotations|cannot be read"):
        open_benchmark(name, data=str(tmp_path)).items()
    with pytest.raises(BenchmarkError, match="There is no folder"):
        open_benchmark(name, data=str(tmp_path / "none")).items()


@pytest.mark.parametrize("name", MAKERS)
def test_settings_identify_annotations_by_content_and_contain_no_paths(name, tmp_path):
    one, two = (opened(name, tmp_path / part) for part in ("one", "two"))
    assert one.settings() == two.settings()
    path = one.annotations(one.root)[0]
    path.write_bytes(path.read_bytes() + b" ")
    assert one.settings() != two.settings()
    assert str(tmp_path) not in json.dumps(one.settings())


def test_rounding_option_sets_how_frames_are_sampled_and_other_values_are_refused(tmp_path):
    root = str(folders.videomme(tmp_path))
    down = open_benchmark("videomme", data=root, rounding="down")
    assert numbers(down.video("data/vid0.mp4", 3 + 1).frames) == [0, 6, 12, 19]
    with pytest.raises(BenchmarkError, match="nearest, down"):
        open_benchmark("videomme", data=root, rounding="up")


def test_mvbench_has_20_tasks_and_includes_all_by_default(tmp_path):
    benchmark = opened("mvbench", tmp_path)
    assert len(TASKS) == 20
    assert benchmark.average == "groups"
    assert [item.groups[0] for item in benchmark.items()] == [
        task for task in folders.MVBENCH for _ in range(2)
    ]
    with pytest.raises(BenchmarkError, match=r"action_prediction.json cannot be read"):
        open_benchmark("mvbench", data=str(tmp_path)).items()
    with pytest.raises(BenchmarkError, match="'juggling' must be one of"):
        open_benchmark("mvbench", data=str(tmp_path), tasks="juggling").items()


def test_mvbench_finds_segment_files_by_the_name_of_their_full_clip(tmp_path):
    rows = folders.mvbench_rows("action_sequence", "ABCDE.mp4", start=1.0, end=2.5)
    folders.clip(tmp_path / "star/Charades_segment/ABCDE_1.0_2.5.mp4")
    folders.write_rows(tmp_path / "json/action_sequence.json", rows)
    benchmark = open_benchmark("mvbench", data=str(tmp_path), tasks="action_sequence")
    assert benchmark.items()[0].clip == "star/Charades_segment/ABCDE_1.0_2.5.mp4"


def test_uncut_mvbench_clip_is_cut_to_the_segment_of_its_question(tmp_path):
    root = str(folders.mvbench_main(tmp_path))
    tasks = "action_sequence,episodic_reasoning"
    benchmark = open_benchmark("mvbench", data=root, tasks=tasks)
    cut, pictures = {item.clip: item for item in benchmark.items()}
    assert cut.endswith("ABCDE.mp4#t=1,2")
    assert numbers(benchmark.video(cut, 3).frames) == [30, 45, 60]
    # the segment from 2 s to 6 s: images 6 to 18 at 3 images per second
    video = benchmark.video(pictures, 4)
    assert numbers(video.frames) == [6, 10, 14, 18]
    assert video.timestamps[1] == pytest.approx(4 / 3)


def test_empty_folder_of_images_is_refused(tmp_path):
    root = folders.mvbench_main(tmp_path)
    benchmark = open_benchmark("mvbench", data=str(root), tasks="episodic_reasoning")
    clip = benchmark.items()[0].clip
    with pytest.raises(VideoError, match="no images between 90 and 99"):
        benchmark.video(clip.partition("#")[0] + "#t=90,99", 4)
    (root / clip.partition("#")[0] / "00010.png").write_bytes(b"none")
    with pytest.raises(VideoError, match=r"00010\.png in castle"):
        benchmark.video(clip, 13)


def test_longvideobench_gives_the_same_questions_from_parquet_and_json(tmp_path):
    benchmark = opened("longvideobench", tmp_path)
    by_json = benchmark.items()
    (tmp_path / "lvb_val.json").unlink()
    rows = folders.longvideobench_parquet_rows()
    folders.write_rows(tmp_path / "validation-00000-of-00001.parquet", rows)
    assert benchmark.items() == by_json
    assert [item.groups for item in by_json] == [("3-10 min",), ("8-15 s",)]
    assert len(by_json[1].options) == 2


def test_longvideobench_guess_for_an_answer_without_a_letter_is_reproducible(tmp_path):
    benchmark = opened("longvideobench", tmp_path)
    item = benchmark.items()[0]
    verdicts = {benchmark.right(item, text) for text in ("", "no idea", "it rains")}
    assert len(verdicts) == 1


def test_mlvu_in_its_authors_format_gives_the_same_questions(tmp_path):
    benchmark = open_benchmark("mlvu", data=str(folders.mlvu_authors(tmp_path)))
    items = benchmark.items()
    assert {item.groups[0] for item in items} == set(benchmark.columns)
    assert items[0].question == "What colour is it?\n(A) Yellow\n(B) Red\n(C) Green\n(D) Blue"
    assert {item.answer for item in items} == {1}


def test_videomme_lists_questions_about_one_video_consecutively(tmp_path):
    benchmark = opened("videomme", tmp_path)
    assert [item.clip for item in benchmark.items()] == ["data/vid0.mp4"] * 2 + [
        "data/vid1.mp4"
    ] * 2
    assert [item.groups[0] for item in benchmark.items()] == ["short", "short", "medium", "long"]


SPOILED = [
    ("mvbench", "json/moving_count.json", {"candidates": None}, "has no candidates; it has video"),
    ("mvbench", "json/moving_count.json", {"answer": "a cap fell"}, "none of the options"),
    ("mvbench", "json/moving_count.json", {"candidates": ["one"]}, "at least two options"),
    ("mvbench", "json/moving_count.json", {"video": "../../x.mp4"}, "must lie inside the folder"),
    ("longvideobench", "lvb_val.json", {"correct_choice": 5}, "must be the index"),
    ("longvideobench", "lvb_val.json", {"correct_choice": "B"}, "must be the index"),
    ("longvideobench", "lvb_val.json", {"id": "same"}, "item id same occurs twice"),
    ("mlvu", "mlvu/test-00000-of-00001.parquet", {"answer": "E"}, "letters A to D"),
    ("mlvu", "mlvu/test-00000-of-00001.parquet", {"task_type": "chess"}, "task_type='chess'"),
    ("videomme", "videomme/test-00000-of-00001.parquet", {"answer": "b"}, "letters A to D"),
    ("videomme", "videomme/test-00000-of-00001.parquet", {"duration": "tiny"}, "duration='tiny'"),
    ("videomme", "videomme/test-00000-of-00001.parquet", {"question_id": "1"}, "1 occurs twice"),
]
ROWS = {
    "mvbench": lambda: folders.mvbench_rows("moving_count", "video_10009.mp4"),
    "longvideobench": folders.longvideobench_rows,
    "mlvu": folders.mlvu_rows,
    "videomme": folders.videomme_rows,
}


@pytest.mark.parametrize(("name", "file", "spoiled", "message"), SPOILED)
def test_invalid_annotations_are_reported_with_their_file(name, file, spoiled, message, tmp_path):
    benchmark = opened(name, tmp_path)
    folders.write_rows(tmp_path / file, [row | spoiled for row in ROWS[name]()])
    with pytest.raises(BenchmarkError, match=message) as caught:
        benchmark.items()
    assert "twice" in message or file in str(caught.value)


@pytest.mark.parametrize("text", ["", "[{]", "[]", '{"a": 1}', "[3]"])
def test_annotation_file_without_rows_is_named(text, tmp_path):
    benchmark = opened("longvideobench", tmp_path)
    (tmp_path / "lvb_val.json").write_text(text, encoding="utf-8")
    with pytest.raises(BenchmarkError, match=r"lvb_val\.json"):
        benchmark.items()


SPOKEN = """1
00:00:00,000 --> 00:00:00,200
<font color="white" size=".72c">Good morning.</font>

2
00:00:00,300 --> 00:00:00,500
no mark-up

3
00:09:00,000 --> 00:09:01,000
<font color="white" size=".72c">Too late.</font>
"""


@pytest.mark.parametrize(
    ("style", "ends"), [("default", "The best answer is:"), ("qwen3_vl", "option letter only.")]
)
def test_videomme_prompt_has_subtitles_before_the_question(style, ends, tmp_path):
    folder = folders.videomme(tmp_path)
    (folder / "subtitle").mkdir()
    (folder / "subtitle" / "vid0.srt").write_text(SPOKEN, encoding="utf-8")
    benchmark = open_benchmark("videomme", data=str(folder), style=style, subtitles=True)
    with_them, without = (benchmark.prompt(benchmark.items()[place]) for place in (0, 2))
    about = "This video's subtitles are listed below: \n"
    assert with_them.startswith(f"{about}Good morning.\n") and with_them.endswith(ends)
    assert without.startswith(f"{about}No subtitles available\n")
