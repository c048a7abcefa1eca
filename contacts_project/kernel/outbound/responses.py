"""Responses whose body is streamed."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Self

import requests
import urllib3

from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.failures import OutboundError, TooLongError, classify
from contacts_project.kernel.outbound.sockets import CURRENT_CALL, Call

CHUNK_BYTES = 64 * 1024
# close() reads an unread body up to this size, so that the connection can be reused.
MAX_DRAIN_BYTES = 16 * 1024


class OutboundResponse:
    """Status and headers of a response; the body can be read once, with `chunks()` or `read()`. Close it or use `with`.

    A body that was read to its end returns the connection to the pool. Reading raises OutboundError.
    """

    def __init__(self, response: requests.Response, call: Call) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.url = call.target.url
        self.on_end: Callable[[], object] = lambda: None
        """Called once the body has been read to its end, and again when the response is closed."""
        self._raw = response.raw
        self._call = call
        # Once urllib3 has begun to decompress a body it refuses to read the rest of it undecoded.
        self._is_decoding = False

    def chunks(self, max_bytes: int) -> Iterator[bytes]:
        """Yield the decompressed body. Raises TooLongError once it is longer than `max_bytes`."""
        size, self._is_decoding = 0, True
        pieces = self._raw.stream(CHUNK_BYTES, decode_content=True)
        while True:
            # Set for each read only: between two reads the caller may send other requests on this thread.
            token = CURRENT_CALL.set(self._call)
            try:
                with external_wait(), map_errors(self._call):
                    piece = next(pieces, None)
            finally:
                CURRENT_CALL.reset(token)
            if piece is None:
                self.on_end()
                return
            size += len(piece)
            if size > max_bytes:
                raise TooLongError
            yield piece

    def read(self, max_bytes: int) -> bytes:
        """The whole body."""
        return b"".join(self.chunks(max_bytes))

    def close(self) -> None:
        """Release the connection: to the pool if what is left of the body is short, otherwise it is closed."""
        token = CURRENT_CALL.set(self._call)
        try:
            with map_errors(self._call):
                # urllib3 returns the connection to the pool by itself once the body has been read to its end.
                self._raw.read(MAX_DRAIN_BYTES, decode_content=self._is_decoding)
        except OutboundError:
            pass  # the caller has all it wanted; the connection is only closed instead of reused
        finally:
            CURRENT_CALL.reset(token)
            self._raw.close()
            self.on_end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextmanager
def map_errors(call: Call) -> Iterator[None]:
    """Turn errors of sockets, urllib3 and requests into OutboundError, and set its `has_sent`."""
    try:
        yield
    except OutboundError as error:
        error.has_sent = call.has_sent
        raise
    except (OSError, HTTPException, urllib3.exceptions.HTTPError, zlib.error) as error:
        code = classify(error)
        raise OutboundError(code, f"The request failed ({code}).", has_sent=call.has_sent) from error
