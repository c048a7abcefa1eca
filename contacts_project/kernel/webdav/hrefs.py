"""Hrefs: servers send them relative or absolute, percent-encoded or not, with any host. Here they become comparable."""

import hashlib
import re
from urllib.parse import quote, unquote_to_bytes, urlsplit

from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import NotDavError

_TOO_LONG = define_text("href_too_long", "The server names an address that is too long.")
_NO_URL = define_text("href_not_a_url", "The server names an address that is no URL.")

_ABSOLUTE_URL = re.compile(r"https?://", re.IGNORECASE)
_INVALID_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SAFE_IN_URL = "%/:=&?~+!$,;'@()*[]"
_SAFE_IN_SEGMENT = "~!$&'()*+,;=:@"
_MAX_KEY_LENGTH = 200
#: The database columns hold no longer URL.
MAX_URL_LENGTH = 2000


def member_url(collection_url: str, href: str) -> str:
    """The URL of a resource: the href's path on the host of its collection, whatever host the href contains."""
    split = urlsplit(collection_url)
    return f"{split.scheme}://{split.netloc}{member_path(collection_url, href)}"


def member_path(collection_url: str, href: str) -> str:
    """The path of a resource as the server spelled it, except that characters invalid in a URL are encoded."""
    text = _INVALID_PERCENT.sub("%25", href.strip())
    collection = urlsplit(collection_url)
    if _ABSOLUTE_URL.match(text):
        text = "/" + text.split("://", 1)[1].partition("/")[2]
    elif text.startswith(f"//{collection.netloc}/"):
        text = text.removeprefix(f"//{collection.netloc}")
    elif not text.startswith("/"):
        text = collection.path.rpartition("/")[0] + "/" + text.removeprefix("./")
    return quote(text, safe=_SAFE_IN_URL)


def href_key(href: str, collection_url: str = "") -> str:
    """The form of an href for comparison: its path with one spelling of percent-encoding.

    At most 200 characters; a longer one is replaced by its SHA-256. Only a relative href needs `collection_url`.
    """
    segments = member_path(collection_url, href).split("/")
    key = "/".join(quote(unquote_to_bytes(segment), safe=_SAFE_IN_SEGMENT) for segment in segments)
    return key if len(key) <= _MAX_KEY_LENGTH else "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def resolve_url(base_url: str, href: str) -> str:
    """The target of a principal, a home set or a redirect, which may be on another host."""
    text = _INVALID_PERCENT.sub("%25", href.strip())
    if text.startswith("//"):
        text = f"{urlsplit(base_url).scheme}:{text}"
    if _ABSOLUTE_URL.match(text):
        return quote(text.partition("#")[0], safe=_SAFE_IN_URL)
    return member_url(base_url, text)


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port, by which it is decided who gets the login. Raises NotDavError for an invalid URL."""
    if len(url) > MAX_URL_LENGTH:
        raise NotDavError(_TOO_LONG)
    try:
        split = urlsplit(url)
        return split.scheme, split.hostname or "", split.port or {"https": 443}.get(split.scheme, 80)
    except ValueError as error:
        raise NotDavError(_NO_URL) from error


def same_origin_url(base_url: str, url: str) -> str:
    """The path of `url` on the host of `base_url`."""
    base, split = urlsplit(base_url), urlsplit(url)
    query = f"?{split.query}" if split.query else ""
    return f"{base.scheme}://{base.netloc}{split.path or '/'}{query}"


def normalize_server_url(text: str) -> str:
    """The URL at which discovery starts; `text` is a URL, a bare domain or a mail address."""
    text = text.strip().removeprefix("mailto:")
    if "://" in text:
        return text
    return f"https://{text.rpartition('@')[2]}/"
