import pytest

from gleanvid.evaluation.lmms_eval.requests import digest, video_and_text
from gleanvid.types import VideoError


def chat(*content):
    return [{"role": "user", "content": [*content, {"type": "text", "text": "What?"}]}]


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ({"url": "a.mp4"}, None),
        ({"url": "a.mp4", "start_time": 1, "end_time": 2.5}, (1.0, 2.5)),
        ({"url": {"url": "a.mp4", "video_start": 3, "video_end": 4}}, (3.0, 4.0)),
        ({"url": {"path": "a.mp4", "video_end": 4}}, (0.0, 4.0)),
    ],
)
def test_video_path_time_span_and_text_are_read_from_a_request(said, part):
    assert video_and_text(chat({"type": "video", **said})) == (("a.mp4", part), "What?")


@pytest.mark.parametrize("kinds", [(), ("image",), ("video", "video"), ("image",) * 16])
def test_request_without_exactly_one_video_is_refused(kinds):
    with pytest.raises(VideoError, match="one video a question"):
        video_and_text(chat(*({"type": kind, "url": "x"} for kind in kinds)))


def test_digest_of_a_request_differs_between_questions():
    one = ("a.mp4", None), "What?", {"max_new_tokens": 16}
    others = [
        (("b.mp4", None), *one[1:]),
        (("a.mp4", (0.0, 1.0)), *one[1:]),
        (one[0], "Who?", one[2]),
        (*one[:2], {"max_new_tokens": 32}),
    ]
    assert len({digest(*question) for question in (one, *others)}) == 5
    assert digest(*one) == digest(*one)
