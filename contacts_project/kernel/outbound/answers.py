"""An answer whose body is read as it comes."""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Self

import requests
import urllib3

from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.failures import OutboundError, TooLongError, classify
from contacts_project.kernel.outbound.sockets import CURRENT_CALL, Call

CHUNK_BYTES = 64 * 1024
# What is read of an answer that nobody reads, so that its connection can be used again.
LEFT_BYTES = 16 * 1024


class Answer:
    """Status and headers of an answer, and its body as `chunks()` or `read()`, once. Close it, or use it in a `with`.

    A body that was read to its end leaves the connection to the next request. What goes wrong is an OutboundError.
    """

    def __init__(self, response: requests.Response, call: Call) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.url = call.target.url
        self._raw = response.raw
        self._call = call
        # urllib3 refuses to go on raw where it has begun to decompress.
        self._is_decoding = False

    def chunks(self, max_bytes: int) -> Iterator[bytes]:
        """The body, decompressed; raises TooLongError once it is longer than `max_bytes`."""
        size, self._is_decoding = 0, True
        pieces = self._raw.stream(CHUNK_BYTES, decode_content=True)
        while True:
            # Set for each read alone: between them the caller does what it likes, other calls included.
            token = CURRENT_CALL.set(self._call)
            try:
                with external_wait(), mapped_failures(self._call):
                    piece = next(pieces, None)
            finally:
                CURRENT_CALL.reset(token)
            if piece is None:
                return
            size += len(piece)
            if size > max_bytes:
                raise TooLongError
            yield piece

    def read(self, max_bytes: int) -> bytes:
        """The whole body."""
        return b"".join(self.chunks(max_bytes))

    def close(self) -> None:
        """Give the connection back: what is left of a short body is read for it. After a long one it is closed."""
        token = CURRENT_CALL.set(self._call)
        try:
            with mapped_failures(self._call):
                # To its end, the answer releases its connection by itself.
                self._raw.read(LEFT_BYTES, decode_content=self._is_decoding)
        except OutboundError:
            pass  # nobody waits for it
        finally:
            CURRENT_CALL.reset(token)
            self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextmanager
def mapped_failures(call: Call) -> Iterator[None]:
    """Whatever a socket, urllib3 or requests raises becomes an OutboundError."""
    try:
        yield
    except OutboundError as error:
        error.has_sent = call.has_sent
        raise
    except (OSError, HTTPException, urllib3.exceptions.HTTPError, zlib.error) as error:
        code = classify(error)
        raise OutboundError(code, f"The request failed ({code}).", has_sent=call.has_sent) from error
