"""Hrefs: servers spell them relative, absolute, encoded or not, with another host; here they become comparable."""

import hashlib
import re
from urllib.parse import quote, unquote_to_bytes, urlsplit

from carddav.client.errors import NotCardDavError

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_BROKEN_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_AS_IT_IS = "%/:=&?~+!$,;'@()*[]"
_IN_SEGMENT = "~!$&'()*+,;=:@"
_LONGEST_KEY = 200
#: What is longer cannot be kept.
LONGEST_URL = 2000


def member_url(book_url: str, href: str) -> str:
    """Where a card is: the href's path on the host of the book, whatever host the server put into it."""
    split = urlsplit(book_url)
    return f"{split.scheme}://{split.netloc}{member_path(book_url, href)}"


def member_path(book_url: str, href: str) -> str:
    """The path of a card, from the root, as the server spelled it but for what no URL may hold."""
    text = _BROKEN_PERCENT.sub("%25", href.strip())
    book = urlsplit(book_url)
    if _ABSOLUTE.match(text):
        text = "/" + text.split("://", 1)[1].partition("/")[2]
    elif text.startswith(f"//{book.netloc}/"):
        text = text.removeprefix(f"//{book.netloc}")
    elif not text.startswith("/"):
        text = book.path.rpartition("/")[0] + "/" + text.removeprefix("./")
    return quote(text, safe=_AS_IT_IS)


def href_key(href: str, book_url: str = "") -> str:
    """The form of an href by which it is compared: its path with one spelling of what is percent-encoded.

    At most 200 characters: of a longer one the SHA-256. `book_url` is needed for relative hrefs alone.
    """
    segments = member_path(book_url, href).split("/")
    key = "/".join(quote(unquote_to_bytes(segment), safe=_IN_SEGMENT) for segment in segments)
    return key if len(key) <= _LONGEST_KEY else "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def linked_url(base_url: str, href: str) -> str:
    """Where a principal, a home or a redirect leads: another host counts."""
    text = _BROKEN_PERCENT.sub("%25", href.strip())
    if text.startswith("//"):
        text = f"{urlsplit(base_url).scheme}:{text}"
    if _ABSOLUTE.match(text):
        return quote(text.partition("#")[0], safe=_AS_IT_IS)
    return member_url(base_url, text)


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port: whom a login is given to. Raises NotCardDavError for what is no URL."""
    if len(url) > LONGEST_URL:
        raise NotCardDavError("The server names an address that is too long.")
    try:
        split = urlsplit(url)
        return split.scheme, split.hostname or "", split.port or {"https": 443}.get(split.scheme, 80)
    except ValueError as error:
        raise NotCardDavError("The server names an address that is no URL.") from error


def same_origin_url(base_url: str, url: str) -> str:
    """The path of `url` on the host of `base_url`."""
    base, split = urlsplit(base_url), urlsplit(url)
    query = f"?{split.query}" if split.query else ""
    return f"{base.scheme}://{base.netloc}{split.path or '/'}{query}"


def server_url_of(text: str) -> str:
    """The URL to begin with: `text` is one, or a bare domain, or an address of mail."""
    text = text.strip().removeprefix("mailto:")
    if "://" in text:
        return text
    return f"https://{text.rpartition('@')[2]}/"
