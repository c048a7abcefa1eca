"""If-Match and If-None-Match (RFC 9110, 13.1), compared as clients and proxies respell ETags."""

from collections.abc import Mapping
from dataclasses import dataclass

from contacts_project.kernel.texts import define_text
from dav.errors import DavError

_STALE = define_text("dav_stale", "This card has been changed meanwhile. Read it again.")
NAME_TAKEN = define_text("dav_name_taken", "There is a card of this name already.")
_CODINGS = ("-gzip", "-zstd", "-br")


@dataclass(frozen=True)
class Conditions:
    """The conditions of a request; None where it has none. `*` stands for any card."""

    if_match: frozenset[str] | None
    if_none_match: frozenset[str] | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Conditions":
        return cls(*(_read_tags(headers.get(name)) for name in ("If-Match", "If-None-Match")))

    def check(self, *etags: str) -> None:
        """Raises DavError (412) unless a resource with one of these ETags (none: there is no resource) fulfils the
        conditions."""
        known = {*etags, "*"} if etags else set()
        if self.if_match is not None and not self.if_match & known:
            raise DavError(412, words=_STALE)
        if self.if_none_match is not None and self.if_none_match & known:
            raise DavError(412, words=NAME_TAKEN)


def _read_tags(header: str | None) -> frozenset[str] | None:
    return None if header is None else frozenset(filter(None, map(_plain, header.split(","))))


def _plain(tag: str) -> str:
    """The ETag without quotes, backslashes, `W/` and the name of a coding that a proxy adds."""
    text = tag.strip().removeprefix("W/").replace("\\", "").strip('"')
    for coding in _CODINGS:
        text = text.removesuffix(coding)
    return text
