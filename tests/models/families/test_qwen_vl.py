import numpy as np

from gleanvid.types import Video
from tests.models.tiny import noise_video


def test_timestamps_in_the_prompt_are_the_true_times(qwen3):
    """With a variable frame rate, the timestamp of two frames is the mean of their times."""
    times = np.array([0.0, 0.5, 3.0, 3.2, 9.0])
    frames = noise_video(5).frames
    video = Video(frames, times, np.array([0, 7, 31, 33, 80]), 12.5, 10.0, 125, (70, 100))
    ids = qwen3.build_inputs(video, qwen3.chat_text(video, "?", ()), None)["input_ids"]
    text = qwen3.processor.tokenizer.decode(ids[0])
    assert [f"<{label} seconds>" in text for label in ("0.2", "3.1", "9.0")] == [True] * 3
    assert text.count(" seconds>") == 3
