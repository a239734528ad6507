from components.jobs.examples import Example
from components.jobs.store import RunStore
from gleanvid import GleanVID
from gleanvid.errors import BusyError
from tests.components.fake import FakeBackend, a_run, moving_square


def make_run(frames: int = 32):
    video, library = moving_square(frames), FakeBackend()
    method = GleanVID()
    tokens = library.tokens(video)
    return a_run(video, method.compress(tokens), method)


def test_run_store_evicts_the_oldest_run_first_and_never_the_newest():
    runs = RunStore(limit_mib=2.5)  # one run of 32 frames is a little below 1 MiB
    ids = [runs.add(make_run()) for _ in range(4)]
    assert runs.get(ids[0]) is None and runs.get(ids[-1]) is not None
    assert len(runs) == 2
    tiny, few = RunStore(limit_mib=0), RunStore(most=3)
    assert tiny.get(tiny.add(make_run())) is not None
    ids = [few.add(make_run(2)) for _ in range(5)]
    assert len(few) == 3 and few.get(ids[1]) is None and few.get(ids[2]) is not None


def test_saved_run_is_read_on_first_use_and_retried_if_its_clip_could_not_be_read(tmp_path):
    read, example = [], Example(tmp_path / "square.mp4", "Square", "What moves?", ())

    def reader():
        read.append(1)
        if len(read) == 1:
            raise BusyError("as many clips as may be are being read")
        return make_run(2)

    runs = RunStore()
    runs.offer({"one": reader}, example)
    runs.offer({"two": lambda: make_run(2)}, example._replace(title="Other"))
    assert not read and runs.get("one") is None
    first = runs.get("one")
    assert first is not None and runs.get("one") is first and len(read) == 2
    assert runs.example("one") is example
    assert runs.get("two") is not None and runs.example("two").title == "Other"


def test_unknown_run_ids_give_no_run():
    assert RunStore().get("../../etc/passwd") is None
    assert RunStore().get(None) is None
