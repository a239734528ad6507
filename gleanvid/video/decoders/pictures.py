"""Picture files with Pillow: a still picture is a clip of one frame, an animated one a clip.

FFmpeg reads no animated WebP. GIF files are left to the other decoders.
"""

from __future__ import annotations

import struct

import numpy as np
from PIL import Image, ImageOps

from gleanvid.errors import MALFORMED
from gleanvid.video.plan import Events, Request, UnreadableVideoError, check_size, make_plan

Image.init()  # imports the modules of all formats; later no file can be opened
ANIMATED = ("PNG", "WEBP", "AVIF")  # the other formats may have pages or a preview instead
FAILURES = (*MALFORMED, OSError, EOFError, SyntaxError, struct.error, Image.DecompressionBombError)


def read(request: Request) -> Events:
    """Yield a plan of the frames, then these; decodes twice. Raises ``UnreadableVideoError``."""
    try:
        with Image.open(request.path) as image:
            check_size(request, image.height, image.width)
            # A PNG may begin with a picture that is only for readers that know no animation.
            first = int(getattr(image, "default_image", False))
            end = getattr(image, "n_frames", 1) if image.format in ANIMATED else first + 1
            lengths = [_frame(image, number)[1] for number in range(first, end)]
            size = _frame(image, first)[0].size[::-1]
            seconds = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            plan, rows = make_plan(request, seconds, size)
            yield plan
            for place, row in enumerate(rows.tolist()):
                frame = _frame(image, first + row)[0].convert("RGB")
                shown = frame.resize(plan.size[::-1], Image.Resampling.BICUBIC)
                yield place, np.asarray(shown)
    except FAILURES as error:
        raise UnreadableVideoError(
            f"{request.name} cannot be read as a picture; it may be damaged."
        ) from error


def _frame(image: Image.Image, number: int) -> tuple[Image.Image, float]:
    """Return a frame as shown, upright, and the seconds for which it is shown."""
    image.seek(number)
    image.load()
    # Browsers show a frame without a length for a tenth of a second.
    return ImageOps.exif_transpose(image), (image.info.get("duration") or 100) / 1000
