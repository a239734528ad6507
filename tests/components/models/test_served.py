import gradio as gr
import pytest

from components.jobs.local import BUILT_IN, PHOTOS
from components.jobs.methods import can_answer, refusal
from components.jobs.request import Request
from components.models.served import ServedPanel, not_served, not_served_sentence, served_method
from gleanvid.compressors import COMPRESSORS


def test_methods_that_need_attention_or_a_language_model_are_not_offered_with_the_photo_encoder():
    assert can_answer(BUILT_IN) and not not_served(BUILT_IN) and not can_answer(PHOTOS)
    expected = {"visionzip", "holitom", "flashvid", "aot", "cdpruner"}
    assert set(not_served(PHOTOS)) == expected | {"fastv", "sparsevlm", "framefusion"}
    sentence = not_served_sentence(PHOTOS)
    assert all(COMPRESSORS[name].title in sentence for name in not_served(PHOTOS))


def test_request_for_a_method_that_the_menu_hides_is_refused():
    for name in COMPRESSORS:
        request = Request("clip.mp4", 8, PHOTOS, name)
        if name not in not_served(PHOTOS):
            assert request.make_compressor().name == served_method(PHOTOS, name) == name
            continue
        assert refusal(PHOTOS, COMPRESSORS[name]()) and served_method(PHOTOS, name) == "gleanvid"
        with pytest.raises(ValueError, match="Photo encoder"):
            request.make_compressor()


def test_ticks_in_compare_stay_while_the_model_cannot_run_their_methods():
    panel = ServedPanel(gr.Dropdown(), gr.CheckboxGroup(list(COMPRESSORS), value=["visionzip"]))
    panel.model, panel.viewer = gr.Dropdown(), gr.HTML()
    for model in (PHOTOS, BUILT_IN):
        changed = panel.on_change({panel.model: model, panel.method: "gleanvid"})[panel.compared]
        assert "value" not in changed and "choices" not in changed
        assert ("VisionZip" in changed["info"]) == (model == PHOTOS)
