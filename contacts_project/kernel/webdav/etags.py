"""ETags as servers send them, and in the forms in which they take them back."""

import re

MAX_ETAG_LENGTH = 500
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_COMPRESSION_SUFFIX = re.compile(r"[-;](gzip|br|zstd|df)$")


def parse_etag(text: str | None) -> str | None:
    """The ETag of a header or a property; None if there is none or it is too long to be stored."""
    etag = _CONTROLS.sub("", text or "").strip()
    return etag if 0 < len(etag) <= MAX_ETAG_LENGTH else None


def same_etag(one: str | None, other: str | None) -> bool:
    """Whether both ETags identify the same version; False if either is unknown."""
    return bool(one and other) and _strip_etag(one or "") == _strip_etag(other or "")


def if_match_candidates(etag: str) -> list[str]:
    """The forms to send in If-Match, in this order: strong and quoted; as the server sent it, which some servers
    require; without the compression suffix of a GET."""
    strong, bare = (f'"{text}"' for text in (etag.strip().removeprefix("W/").strip('"'), _strip_etag(etag)))
    return list(dict.fromkeys([strong, etag.strip(), bare]))


def _strip_etag(etag: str) -> str:
    return _COMPRESSION_SUFFIX.sub("", etag.strip().removeprefix("W/").strip('"'))
