from __future__ import annotations

from dataclasses import replace

from components.files import exports
from gleanvid import Uniform
from tests.browser.steps import (
    answered,
    ask,
    more,
    name,
    named,
    notice,
    quiet,
    reply,
    says,
    slider,
    tab,
    until,
    upload,
)
from tests.components.fake import FakeBackend, a_run, moving_square


def answered_methods(page) -> list[str]:
    return page.locator(".gv-tried td:nth-child(2)").all_text_contents()


def test_reload_restores_answers_only_in_the_same_browser_tab(visit, fresh, address, clips):
    upload(visit, str(clips / "square.mp4"))
    notice(visit, "Used 32")
    ask(visit, "What is this?")
    answered(visit)
    slider(visit, "tau").focus()
    visit.keyboard.press("ArrowRight")
    visit.wait_for_selector(".gv-pane[data-side=b] .gv-answered[data-stale]")
    visit.click("#gv-ask")
    answered(visit)
    before = name(visit, "b"), reply(visit, "b").inner_text(), answered_methods(visit)
    assert len(answered_methods(visit)) == 3
    visit.reload()
    named(visit, "b", before[0])
    answered(visit)
    assert (name(visit, "b"), reply(visit, "b").inner_text(), answered_methods(visit)) == before
    assert slider(visit, "tau").input_value() == "4.5"
    tab(visit, "Curves")
    visit.wait_for_selector("#gv-budget .main-svg")
    tab(visit, "Tokens")
    ask(visit, "And what else?")
    answered(visit)
    visit.reload()
    named(visit, "b", before[0])
    answered(visit)
    assert visit.get_by_label("Question", exact=True).input_value() == "And what else?"
    assert {*before[2]} < {*answered_methods(visit)} and len(answered_methods(visit)) == 5
    fresh.goto(address)
    fresh.wait_for_selector(".gv-viewer[data-state=ready]")
    assert "tau" not in " ".join(answered_methods(fresh))
    # The page was built before a model was loaded, so its status line is filled on load.
    fresh.wait_for_selector(".gv-status :text('builtin')")


def test_upload_survives_a_reload_before_its_tokens_are_shown(visit, library, clips, tmp_path):
    upload(visit, str(clips / "square.mp4"))
    notice(visit, "Used 32")
    other = tmp_path / "other.mp4"
    other.write_bytes((clips / "square.mp4").read_bytes() + b"\0" * 8)
    library.encode_s = 60
    try:
        visit.locator(".gv-examples input[type=file]").set_input_files(str(other))
        visit.wait_for_selector(".gv-shelf [aria-current][title='other.mp4']")
        notice(visit, "Encoding")
    finally:
        library.encode_s = 0
    visit.reload()  # the reload ends the encoding
    visit.wait_for_selector(".gv-shelf [aria-current][title='other.mp4']")
    notice(visit, "Used 32")
    titles = visit.locator(".gv-shelf button").evaluate_all("all => all.map(({ title }) => title)")
    assert titles == ["square.mp4", "other.mp4"]
    assert visit.inner_text("#gv-upload") == "Upload a clip"
    assert visit.get_by_label("Question", exact=True).input_value() == ""


def test_link_restores_settings_of_both_sides_question_and_view(visit, fresh):
    visit.select_option("[data-pick=a] select", "run:uniform")
    named(visit, "a", "Uniform 10 %")
    slider(visit, "tau").fill("12")
    slider(visit, "Retention").fill("0.2")
    named(visit, "b", "GleanVID 20 % · tau 12")
    visit.check("input[value=heat]", force=True)
    visit.get_by_label("Question", exact=True).fill("Where to?")
    parts = "['clip=square', 'a=', 'tau=12', 'ratio=0.2', 'question=Where', 'view=heat']"
    visit.wait_for_function(f"{parts}.every((part) => location.search.includes(part))")
    fresh.goto(visit.url)
    named(fresh, "b", "GleanVID 20 % · tau 12")
    assert name(fresh, "a") == "Uniform 10 %"
    assert fresh.is_checked("input[value=heat]")
    answered(fresh)
    assert fresh.get_by_label("Question", exact=True).input_value() == "Where to?"
    assert slider(fresh, "tau").input_value() == "12"
    assert fresh.locator(".gv-count").all_inner_texts() == [
        "179 tokens (9.99 %)",
        "358 tokens (20 %)",
    ]


def test_browser_back_opens_the_previous_tab_and_keeps_settings(lasting):
    tab(lasting, "Curves")
    lasting.wait_for_function("location.search.includes('tab=Curves')")
    slider(lasting, "tau").fill("12")
    lasting.wait_for_function("location.search.includes('tau=12')")
    lasting.go_back()
    open_tab = lasting.get_by_role("tab", selected=True)
    lasting.wait_for_function("!location.search.includes('tab=')")
    assert open_tab.inner_text() == "Tokens"
    assert "tau=12" in lasting.url
    until(lasting, lambda: name(lasting, "b").endswith("· tau 12"))
    lasting.go_forward()
    lasting.wait_for_function("location.search.includes('tab=Curves')")
    assert open_tab.inner_text() == "Curves"


def test_copied_link_restores_the_compared_methods_and_the_tab(lasting, fresh, clips):
    lasting.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab(lasting, "Compare")
    lasting.get_by_label("VisionZip", exact=True).uncheck()
    for part in ("tab=Compare", "methods="):
        lasting.wait_for_function("part => location.search.includes(part)", arg=part)
    lasting.click("#gv-copy")
    lasting.wait_for_selector("#gv-copy:has-text('Link copied')")
    copied = lasting.evaluate("navigator.clipboard.readText()")
    assert copied == lasting.url
    lasting.wait_for_selector("#gv-copy:has-text('Copy link to')")
    fresh.goto(copied)
    fresh.wait_for_selector("#gv-compare-start")
    upload(lasting, str(clips / "square.mp4"))
    notice(lasting, "Used 32")
    lasting.click("#gv-copy")
    lasting.wait_for_selector("#gv-copy:has-text('Link copied, without your clip')")
    fresh.get_by_label("VisionZip", exact=True).and_(fresh.locator(":not(:checked)")).wait_for()
    assert fresh.get_by_role("tab", name="Compare").get_attribute("aria-selected") == "true"
    assert fresh.locator(".gv-examples [aria-current]").all_inner_texts() == ["Square"]
    assert fresh.locator(".gv-unread").is_hidden()
    fresh.goto(lasting.evaluate("navigator.clipboard.readText()"))
    fresh.wait_for_selector(".gv-unread:has-text('uploaded by its sender')")
    fresh.wait_for_function("!location.search.includes('clip=')")


def test_original_video_plays_from_the_current_frame(visit):
    # With this switch on, a change of the settings would ask the question again.
    visit.get_by_label("Ask again on each change").uncheck()
    more(visit)
    box = visit.get_by_label("number input for Frames")
    box.fill("4")  # four frames are sampled over the clip's one second
    box.press("Enter")
    box.blur()
    says(visit, "of 2 ·")
    visit.click("[data-act=video]")
    visit.wait_for_function("document.querySelector('.gv-video').readyState > 1")
    quiet(visit)
    requests = len(visit.requested)
    for key, seconds in (("End", 0.75), ("Home", 0)):
        visit.focus(".gv-scrub")
        visit.keyboard.press(key)
        apart = f"Math.abs(document.querySelector('.gv-video').currentTime - {seconds})"
        visit.wait_for_function(f"{apart} < 0.1")
    asked = [url for url in visit.requested[requests:] if "/queue/join" in url or "/run/" in url]
    assert asked == [] and visit.errors == []


def test_opening_a_saved_run_of_an_unknown_clip_deselects_the_current_clip(visit, tmp_path):
    """The clip is deselected even if it has the file name of an example."""
    video = moving_square(8)
    video = replace(video, name="square.mp4", frames=255 - video.frames)
    made = a_run(video, *uniform(video))
    path = exports.saved_run([made], tmp_path)
    tab(visit, "Export and API")
    visit.locator("#gv-open").locator("..").locator("input[type=file]").set_input_files(path)
    tab(visit, "Tokens")
    named(visit, "a", "Uniform 50 %")
    visit.wait_for_selector(".gv-chip", state="detached")
    notice(visit, "Its clip is not on this server: choose")
    assert visit.locator(".gv-examples [aria-current]").count() == 0
    visit.click("#gv-ask")
    notice(visit, "Choose a clip first")
    assert name(visit, "a") == "Uniform 50 %"
    assert answered_methods(visit) == ["Uniform 50 %"]
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.click("#gv-copy")
    visit.wait_for_selector("#gv-copy:has-text('Link copied, without your clip')")
    assert "uniform" in visit.evaluate("navigator.clipboard.readText()")
    visit.reload()
    named(visit, "a", "Uniform 50 %")
    notice(visit, "The clip of these results is no longer on the server")
    assert visit.locator(".gv-examples [aria-current]").count() == 0


def uniform(video):
    method = Uniform(0.5)
    return method.compress(FakeBackend().tokens(video)), method
