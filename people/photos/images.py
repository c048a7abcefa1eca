"""Pictures as people send them, made into photos: the small ones here, the heavy ones in a process of their own.

What a picture may be, and how it is decoded, stands in people.photos.pixels, which is loaded with the first one: Pillow
takes each process memory.
"""

import subprocess
import sys

from django.conf import settings

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.slots import Slots
from people.photos.refusals import REFUSED, PictureRefusedError

__all__ = ["PictureRefusedError", "PixelBudget", "as_stored", "convert_heif", "make_photo"]

MAX_PIXELS_IN_ALL = 200_000_000
_SECONDS = 60
_BUSY = "Other large pictures are being read. Nothing was changed: try again in a few seconds."
_heavy = Slots(1, waiting=3, seconds=20, message=_BUSY)


class PixelBudget:
    """What the pictures of one request may have in all: decoding takes time by the pixel, a file hardly any room."""

    def __init__(self) -> None:
        self.left = MAX_PIXELS_IN_ALL

    def draw(self, number: int) -> None:
        """Raises PictureRefusedError when this is beyond it; smaller ones may still come."""
        if number > self.left:
            most = MAX_PIXELS_IN_ALL // 1_000_000
            raise PictureRefusedError(f"the pictures of one request may have {most} megapixels in all")
        self.left -= number


def make_photo(data: bytes, budget: PixelBudget | None = None) -> bytes:
    """The stored form of an uploaded picture. Never inside a transaction.

    One of many comes with the `budget` of all, and waits for its process as long as it takes: those requests are few.
    Raises PictureRefusedError, and without a budget UnavailableError.
    """
    from people.photos import pixels  # noqa: PLC0415 - see above

    size = pixels.measure(data)
    if budget:
        budget.draw(size.pixels)
    return (
        _in_a_process("make_photo", data, wait_forever=budget is not None) if size.is_heavy else pixels.make_photo(data)
    )


def as_stored(data: bytes, budget: PixelBudget | None = None) -> bytes:
    """The stored form, where `data` is it already the same bytes: what moves between accounts is not encoded again.

    Only what has to be made counts against the budget. Raises as make_photo does.
    """
    from people.photos import pixels  # noqa: PLC0415 - see above

    return data if pixels.is_stored_form(data) else make_photo(data, budget)


def convert_heif(data: bytes) -> bytes:
    """A HEIC or HEIF picture as a JPEG of the same size, without metadata. Raises PictureRefusedError,
    UnavailableError."""
    return _in_a_process("convert_heif", data, wait_forever=False)


def _in_a_process(work: str, data: bytes, *, wait_forever: bool) -> bytes:
    """Have `python -m people.photos.pixels` do it, one at a time."""
    command = [sys.executable, "-m", "people.photos.pixels", work]
    with _heavy.acquire(wait_forever=wait_forever):
        try:
            done = subprocess.run(  # noqa: S603 - our own command
                command, input=data, capture_output=True, timeout=_SECONDS, cwd=settings.BASE_DIR, check=False
            )
        except subprocess.TimeoutExpired:
            raise PictureRefusedError("This picture takes too long to read.") from None
        except OSError as error:
            raise UnavailableError(_BUSY) from error
    if done.returncode == REFUSED:
        raise PictureRefusedError(done.stderr.decode())
    if done.returncode:
        raise PictureRefusedError("This picture is damaged: it cannot be read.")
    return done.stdout
