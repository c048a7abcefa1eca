"""Converts uploaded pictures into photos: small ones in this process, heavy ones in a separate process.

people.photos.pixels checks and decodes them. It is imported with the first picture, because Pillow takes memory in each
process.
"""

import json
import subprocess
import sys
from collections.abc import Hashable
from math import inf

from django.conf import settings

from contacts_project.kernel.errors import UnavailableError
from contacts_project.kernel.external_waits import account_of_request
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.kernel.texts import Text, define_text
from people.photos.containers import REFUSED_EXIT_STATUS, PictureRefusedError

_OVER_BUDGET = define_text("pictures_over_budget", "the pictures of one request may have %(limit)s megapixels in all")
_TOO_SLOW = define_text("picture_too_slow", "This picture takes too long to read.")
_DAMAGED = define_text("picture_damaged", "This picture is damaged: it cannot be read.")


MAX_PIXELS_PER_REQUEST = 200_000_000
_TIMEOUT_SECONDS = 60
_BUSY = define_text(
    "pictures_busy", "Other large pictures are being read. Nothing was changed: try again in a few seconds."
)
_LARGE_PICTURES = FairSemaphore[Hashable](LIMITS["large pictures"], lambda _: UnavailableError(_BUSY, retry_after=10))


class PixelBudget:
    """The number of pixels that the pictures of one request may have in total.

    The size of the body is no limit: a small file can have many pixels, and they decide how long decoding takes.
    """

    def __init__(self) -> None:
        self.left = MAX_PIXELS_PER_REQUEST

    def draw(self, pixels: int) -> None:
        """Raises PictureRefusedError and draws nothing if fewer are left: a smaller picture may still be accepted."""
        if pixels > self.left:
            raise PictureRefusedError(_OVER_BUDGET.format(limit=MAX_PIXELS_PER_REQUEST // 1_000_000))
        self.left -= pixels


def make_photo(data: bytes, budget: PixelBudget | None = None) -> bytes:
    """The stored form of an uploaded picture. Must be called outside of transactions.

    A picture that is one of many comes with the `budget` of its request, and waits for a process without limit, because
    there are few such requests. Raises PictureRefusedError, and UnavailableError without a budget if too many wait.
    """
    from people.photos import pixels  # noqa: PLC0415 - see the module's docstring

    size = pixels.measure(data)
    if budget:
        budget.draw(size.pixels)
    if size.is_heavy:
        return _convert_in_process("make_photo", data, wait_forever=budget is not None)
    return pixels.make_photo(data)


def make_thumbnail(data: bytes) -> bytes:
    """A small copy of a whole picture (people.photos.pixels.make_thumbnail). Must be called outside of transactions.

    Waits for a process without limit, as pictures of a sync do. Raises PictureRefusedError.
    """
    from people.photos import pixels  # noqa: PLC0415 - see the module's docstring

    if pixels.measure(data).is_heavy:
        return _convert_in_process("make_thumbnail", data, wait_forever=True)
    return pixels.make_thumbnail(data)


def to_stored_form(data: bytes, budget: PixelBudget | None = None) -> bytes:
    """The stored form of a picture: `data` itself if it is in that form already, else what make_photo returns.

    So photos that are exported and imported are not encoded again. Only a conversion counts against the budget. Raises
    as make_photo does.
    """
    from people.photos import pixels  # noqa: PLC0415 - see the module's docstring

    return data if pixels.is_stored_form(data) else make_photo(data, budget)


def convert_heif(data: bytes) -> bytes:
    """A HEIC or HEIF picture as a JPEG of the same size, without metadata.

    Raises PictureRefusedError, UnavailableError.
    """
    return _convert_in_process("convert_heif", data, wait_forever=False)


def _convert_in_process(conversion: str, data: bytes, *, wait_forever: bool) -> bytes:
    """Run `python -m people.photos.pixels`, one at a time."""
    command = [sys.executable, "-m", "people.photos.pixels", conversion]
    with _LARGE_PICTURES.hold(account_of_request.get(), inf if wait_forever else None):
        try:
            process = subprocess.run(  # noqa: S603 - our own command
                command, input=data, capture_output=True, timeout=_TIMEOUT_SECONDS, cwd=settings.BASE_DIR, check=False
            )
        except subprocess.TimeoutExpired:
            raise PictureRefusedError(_TOO_SLOW) from None
        except OSError as error:
            raise UnavailableError(_BUSY) from error
    if process.returncode == REFUSED_EXIT_STATUS:
        raise PictureRefusedError(Text.from_stored(json.loads(process.stderr)))
    if process.returncode:
        raise PictureRefusedError(_DAMAGED)
    return process.stdout
