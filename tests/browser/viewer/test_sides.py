import base64

import torch

from components.tokens.answers import answer
from components.viewer.payload import pack
from gleanvid.types import Compression
from tests.browser.steps import settle
from tests.browser.viewer.alone import open_alone
from tests.browser.viewer.case import CELLS, OTHER, PRUNED, caption, choose, look_at
from tests.components.fake import COLUMNS, ROWS, write_clip
from tests.components.made_up import made_up_run


def answered(page, *answers) -> None:
    page.evaluate("answers => change('answers', answers)", list(answers))
    settle(page)


def side(page, key: str):
    return page.locator(f"[data-side={key}] .gv-answered")


def test_answer_is_marked_right_or_wrong_if_the_right_answer_is_known(page):
    choose(page, a=PRUNED, b=OTHER)
    right = answer("A red square.", "0", expected="a red square")
    answered(page, right, answer("a blue square", "3", expected="a red square"))
    assert "✓ right" in side(page, "a").inner_text()
    assert "✗ wrong" in side(page, "b").inner_text()
    # words that differ are marked only if no right answer is known
    assert side(page, "b").locator("mark, del").count() == 0
    choose(page, a=OTHER, b=PRUNED)
    assert "✓ right" in side(page, "b").inner_text()
    # both answers are timed or neither is, and four lines are shown whole
    timed = [answer(" ".join(["word"] * count), key) for key, count in (("0", 20), ("3", 40))]
    for times in ((None, 0.5), (0.4, 0.5)):
        answered(page, *(one | {"ttft_s": time} for one, time in zip(timed, times, strict=True)))
        spent = page.locator(".gv-spent").all_inner_texts()
        assert ["to first token" in text for text in spent] == [None not in times] * 2
    said = "document.querySelector('[data-side=a] .gv-reply')"
    assert page.evaluate(f"{said}.clientHeight >= 4 * 1.4 * 17 - 1")


def test_outlined_objects_are_named_and_their_kept_tokens_are_counted(page, case):
    choose(page, a=PRUNED, b=OTHER)
    left, top, right, bottom = case.packed.value["area"]
    rectangle = [
        left + 3 / COLUMNS * (right - left),
        top,
        left + 6 / COLUMNS * (right - left),
        top + 2 / ROWS * (bottom - top),
    ]
    page.evaluate(
        "truth => show({ ...props.value, truth })",
        {
            "label": "red",
            "question": "Which colour does the square have?",
            "names": ["red square"],
            "boxes": [[] if frame != 4 else [rectangle] for frame in range(8)],
        },
    )
    settle(page)
    shows = torch.zeros(4, ROWS, COLUMNS, dtype=torch.bool)
    shows[2, :2, 3:6] = True  # frame 4 belongs to unit 2
    for key, method in (("a", PRUNED), ("b", OTHER)):
        kept = int(case.runs[method].compression.mask[shows.flatten()].sum())
        words = page.locator(f"[data-side={key}] .gv-evidence span").first.inner_text()
        assert words == f"Kept {kept} of 6 tokens on the red square"
    legend, evidence = page.locator(".gv-legend"), page.locator("[data-side=b] .gv-evidence")
    assert "red square: the right answer rests on it" in legend.inner_text()
    page.click("[data-act=truth]")
    assert "red square" not in legend.inner_text() and "red square" in evidence.inner_text()
    page.click("[data-act=truth]")
    # objects are known only for the questions of the example
    type_question(page, "Which colour does the star have?")
    assert "red square" not in legend.inner_text() + evidence.inner_text()
    assert page.locator("[data-act=truth]").is_hidden()
    type_question(page, "Which colour does the square have?")
    assert "red square" in legend.inner_text() and "red square" in evidence.inner_text()


def type_question(page, text) -> None:
    page.evaluate(
        "text => document.dispatchEvent("
        "new CustomEvent('gleanvid:question', { detail: { text } }))",
        text,
    )
    settle(page)


def test_original_video_replaces_side_a_and_moves_with_the_same_time_cursor(page, tmp_path):
    write_clip(tmp_path / "clip.mp4")
    clip = base64.b64encode((tmp_path / "clip.mp4").read_bytes()).decode()
    page.evaluate(
        """clip => {
          const bytes = Uint8Array.from(atob(clip), (letter) => letter.charCodeAt(0));
          const url = URL.createObjectURL(new Blob([bytes], { type: "video/mp4" }));
          const seconds = props.value.seconds.map((second) => second / 2); // the clip lasts 1 s
          show({ ...props.value, seconds, video: { url } });
        }""",
        clip,
    )
    settle(page)
    look_at(page, 1)
    page.click("[data-act=video]")
    assert page.locator("[data-side=a] video").is_visible()
    assert page.locator("[data-side=a] canvas").is_hidden()
    look_at(page, 2)
    at = "document.querySelector('[data-side=a] video').currentTime"
    page.wait_for_function(f"Math.abs({at} - 0.5) < 0.1")  # the first frame of unit 3
    page.click(".gv-play")
    page.wait_for_function("document.querySelector('.gv-clock').textContent.includes('unit 4')")
    page.click("[data-act=video]")
    assert page.locator("[data-side=a] canvas").is_visible()
    assert page.errors == []


def test_sides_with_different_token_grids_each_use_their_own_grid(shared, case):
    coarse = (2, 3, 5)
    record = Compression.pruned(torch.arange(0, 30, 3), coarse)
    other = made_up_run(case.runs[0].video, record, "random")
    page = open_alone(shared, pack([case.runs[PRUNED], other], 0, 1, case.tokens))
    look_at(page, 1)
    kept = int(record.budgets[1])
    assert f"B: {kept} of 15 tokens kept" in caption(page)
    assert f" of {CELLS} tokens kept" in caption(page)
    assert page.is_disabled("input[value=ab]")
    page.hover("[data-side=b] .gv-frame", position={"x": 4, "y": 4})
    assert "row 1, column 1" in page.locator(".gv-card:not([hidden])").inner_text()
    assert page.errors == []
