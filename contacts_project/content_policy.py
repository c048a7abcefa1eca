"""The Content-Security-Policy of all responses: nothing from other hosts, no inline script, no inline style."""

from urllib.parse import urlsplit


def content_security_policy(tiles_url: str) -> str:
    """Images may also come from the origin of the map's tiles, if the operator has chosen one."""
    tiles = urlsplit(tiles_url)
    origin = f" {tiles.scheme}://{tiles.netloc}" if tiles_url else ""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:{origin}; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
