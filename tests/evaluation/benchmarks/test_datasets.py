import shutil
import tarfile
import zipfile

import huggingface_hub
import pytest

from gleanvid.evaluation.benchmarks import BenchmarkError, open_benchmark
from gleanvid.evaluation.benchmarks.datasets import fetch, unpack
from tests.evaluation.benchmarks import folders


@pytest.fixture
def snapshot(tmp_path):
    """Write Video-MME as published on the Hub: a table and zip files of videos."""
    made = folders.videomme(tmp_path / "made")
    home = tmp_path / "snapshot"
    home.mkdir()
    shutil.copytree(made / "videomme", home / "videomme")
    for number, path in enumerate(sorted((made / "data").iterdir())):
        with zipfile.ZipFile(home / f"videos_chunked_0{number}.zip", "w") as archive:
            archive.write(path, f"data/{path.name}")
    return home


def test_dataset_archives_are_unpacked_into_the_folder_that_the_benchmark_reads(snapshot, tmp_path):
    root = unpack(snapshot, tmp_path / "unpacked")
    assert len(open_benchmark("videomme", data=str(root)).items()) == 4


def test_dataset_archives_are_unpacked_only_once(snapshot, tmp_path):
    root = unpack(snapshot, tmp_path / "unpacked")
    (root / "data" / "vid0.mp4").unlink()
    unpack(snapshot, root)
    assert not (root / "data" / "vid0.mp4").exists()
    (root / "videos_chunked_00.zip.unpacked").unlink()
    assert (unpack(snapshot, root) / "data" / "vid0.mp4").exists()


def test_tar_archive_split_into_parts_is_unpacked_as_one(tmp_path):
    made = folders.longvideobench(tmp_path / "made")
    home = tmp_path / "snapshot"
    home.mkdir()
    shutil.copy(made / "lvb_val.json", home)
    with tarfile.open(tmp_path / "videos.tar", "w") as archive:
        archive.add(made / "videos", "videos")
    data = (tmp_path / "videos.tar").read_bytes()
    third = len(data) // 3
    for name, part in zip(("aa", "ab", "ac"), (0, third, 2 * third), strict=True):
        stop = len(data) if name == "ac" else part + third
        (home / f"videos.tar.part.{name}").write_bytes(data[part:stop])
    root = unpack(home, tmp_path / "unpacked")
    assert len(open_benchmark("longvideobench", data=str(root)).items()) == 2


def test_broken_archive_is_reported_by_name_and_retried_later(snapshot, tmp_path):
    (snapshot / "videos_chunked_01.zip").write_bytes(b"PK no")
    with pytest.raises(BenchmarkError, match=r"videos_chunked_01\.zip could not be unpacked"):
        unpack(snapshot, tmp_path / "unpacked")
    assert not (tmp_path / "unpacked" / "videos_chunked_01.zip.unpacked").exists()


def test_dataset_download_without_a_network_says_what_to_do(monkeypatch):
    def offline(*_, **__):
        raise ConnectionError("Name or service not known\nlong trace")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(BenchmarkError, match=r"hf download some/data .* data=DIR") as caught:
        fetch("some/data")
    assert "long trace" not in str(caught.value)


def test_benchmark_without_a_data_folder_downloads_its_dataset(monkeypatch, snapshot, tmp_path):
    asked = {}

    def download(repository, **options):
        asked.update(options, repository=repository)
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "cache"))
    assert len(open_benchmark("videomme").items()) == 4
    assert asked == {"repository": "lmms-eval/Video-MME", "repo_type": "dataset", "revision": None}


def test_data_option_accepts_the_name_of_another_hub_dataset(monkeypatch, snapshot, tmp_path):
    asked = []
    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda name, **_: asked.append(name) or str(snapshot)
    )
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "cache"))
    assert len(open_benchmark("videomme", data="someone/Video-MME").items()) == 4
    assert asked == ["someone/Video-MME"]
