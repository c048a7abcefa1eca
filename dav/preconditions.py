"""Preconditions of DAV requests: those of the headers (RFC 9110, 13.1), and the error that names the one that failed
(RFC 4918, 16)."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpResponse

from contacts_project.kernel.texts import Text, define_text
from dav.xml import CONTENT_TYPE, dav, document, tag, text

_READ_ONLY = define_text("dav_read_only", "This cannot be changed here.")
_STALE = define_text("dav_stale", "This card has been changed meanwhile. Read it again.")
NAME_TAKEN = define_text("dav_name_taken", "There is a card of this name already.")
_CODINGS = ("-gzip", "-zstd", "-br")


@dataclass
class DavStatusError(Exception):
    """The response has this status. `condition` is the name of the failed precondition, `inner` the XML inside of it.

    `words` says to people what is wrong; clients show it seldom, so what matters is told to the owner as well, which is
    why what can happen to a card is a Text.
    """

    status: int
    condition: str = ""
    words: Text | str = ""
    inner: str = ""

    def to_response(self) -> HttpResponse:
        if not self.condition:
            return HttpResponse(str(self.words), status=self.status, content_type="text/plain; charset=utf-8")
        described = tag(dav("responsedescription"), text(self.words)) if self.words else ""
        body = document(dav("error"), tag(self.condition, self.inner) + described)
        return HttpResponse(body, status=self.status, content_type=CONTENT_TYPE)


def missing() -> DavStatusError:
    return DavStatusError(404, words="There is nothing here.")


def need_privileges(path: str, privilege: str = "write-content") -> DavStatusError:
    """RFC 3744, 7.1.1."""
    needed = tag(dav("href"), text(path)) + tag(dav("privilege"), tag(dav(privilege)))
    return DavStatusError(403, dav("need-privileges"), _READ_ONLY, tag(dav("resource"), needed))


@dataclass(frozen=True)
class Conditions:
    """If-Match and If-None-Match, compared as clients and proxies respell ETags; None where a request has none. `*`
    stands for any card."""

    if_match: frozenset[str] | None
    if_none_match: frozenset[str] | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Conditions":
        return cls(*(_read_tags(headers.get(name)) for name in ("If-Match", "If-None-Match")))

    def check(self, *etags: str) -> None:
        """Raises DavStatusError (412) unless a resource with one of these ETags fulfils the conditions. Without ETags
        there is no resource."""
        known = {*etags, "*"} if etags else set()
        if self.if_match is not None and not self.if_match & known:
            raise DavStatusError(412, words=_STALE)
        if self.if_none_match is not None and self.if_none_match & known:
            raise DavStatusError(412, words=NAME_TAKEN)


def _read_tags(header: str | None) -> frozenset[str] | None:
    return None if header is None else frozenset(filter(None, map(_plain, header.split(","))))


def _plain(tag: str) -> str:
    """The ETag without quotes, backslashes, `W/` and the name of a coding that a proxy adds."""
    text = tag.strip().removeprefix("W/").replace("\\", "").strip('"')
    for coding in _CODINGS:
        text = text.removesuffix(coding)
    return text
