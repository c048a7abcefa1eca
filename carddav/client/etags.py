"""ETags as servers give them: weak, without quotes, or with the name of a compression behind (RFC 9110, 8.8.3)."""

import re

LONGEST_ETAG = 500
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_COMPRESSED = re.compile(r"[-;](gzip|br|zstd|df)$")


def read_etag(text: str | None) -> str | None:
    """The etag of a header or a property; None where there is none, or one that is too long to be kept."""
    etag = _CONTROLS.sub("", text or "").strip()
    return etag if 0 < len(etag) <= LONGEST_ETAG else None


def same_etag(one: str | None, other: str | None) -> bool:
    """Whether both name one version; False where either is not known."""
    return bool(one and other) and _bare(one or "") == _bare(other or "")


def if_match_forms(etag: str) -> list[str]:
    """What to send in If-Match: the strong, quoted form; then, for a server that wants it back so, as it was; then
    without the name of the compression under which a GET gave it."""
    strong, bare = (f'"{text}"' for text in (etag.strip().removeprefix("W/").strip('"'), _bare(etag)))
    return list(dict.fromkeys([strong, etag.strip(), bare]))


def _bare(etag: str) -> str:
    return _COMPRESSED.sub("", etag.strip().removeprefix("W/").strip('"'))
