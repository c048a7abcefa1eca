"""What has changed in a collection: by sync-collection (RFC 6578), else by its ctag and a PROPFIND of its members."""

import re
from collections.abc import Sized

from contacts_project.kernel.webdav import request_bodies
from contacts_project.kernel.webdav.collection import GONE_STATUSES, UNSUPPORTED_REPORT_STATUSES, Collection
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    CollectionGoneError,
    CollectionMovedError,
    MalformedResponseError,
    NotDavError,
    StatusError,
    TooManyMembersError,
)
from contacts_project.kernel.webdav.etags import parse_etag
from contacts_project.kernel.webdav.hrefs import MAX_URL_LENGTH
from contacts_project.kernel.webdav.multistatus import CALENDARSERVER, DAV, Response
from contacts_project.kernel.webdav.session import LISTING_SECONDS, READ_SECONDS
from contacts_project.kernel.webdav.shapes import Listing, ListingEntry

_MAX_PAGES = 10_000
# Content types of other members of a collection of any kind: folders, pages, pictures.
_FOREIGN_TYPES = ("text/html", "httpd/", "image/")


class ListedCollection(Collection):
    """A collection whose changes are listed.

    All methods raise DavError, and CollectionGoneError if the collection itself no longer exists.
    """

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Listing:
        """What has changed since `token`, or since `ctag` if the server has no sync tokens; everything if both are
        empty.

        One request if nothing has changed. Without tokens a change costs two requests (ctag, listing), or one if the
        collection `is_small` and is therefore listed at once. A refused token yields the full listing. A server may
        also return all members where only changes were requested; the caller has to detect that.
        """
        # A server that lists no reports may support them all the same: a token in its listing is reason to try.
        if self.caps.has_sync or (token and not self.caps.reports and not self.caps.refused):
            if (found := self.sync(token)) is not None:
                return found
            # If the collection itself is gone or forbidden, the listing raises the same error again.
            return self.list()
        unchanged = Listing(token=token, ctag=ctag, is_unchanged=True)
        if ctag and not is_small and self.fetch_state()[1] == ctag:
            return unchanged
        listing = self.list()
        # A small collection is listed without asking for its ctag first, which the listing contains as well.
        return unchanged if ctag and listing.ctag == ctag else listing

    def list(self) -> Listing:
        """Every member of the collection. Raises if the response to the PROPFIND is incomplete or malformed."""
        entries: dict[str, ListingEntry] = {}
        ctag = token = ""
        names_itself = False
        body = request_bodies.propfind_listing(self.kind)
        with self.session.idle_timeout(LISTING_SECONDS), self.multistatus("PROPFIND", body, depth="1") as responses:
            for response in responses:
                if self.is_self(response):
                    self.check_type(response)
                    names_itself = True
                    ctag, token = response.text_of(f"{CALENDARSERVER}getctag"), response.text_of(f"{DAV}sync-token")
                elif self._is_member(response) and response.status not in GONE_STATUSES:
                    entry = self._parse_entry(response)
                    entries[entry.key] = entry
                    self._check_count(entries)
        # RFC 4918, section 9.1: the response includes the requested collection itself. An empty multistatus is not an
        # empty collection.
        if not names_itself and not entries:
            raise NotDavError(self.kind.nothing_listed)
        return Listing(tuple(entries.values()), token=token, ctag=ctag, is_full=True)

    def fetch_state(self) -> tuple[str, str]:
        """The sync token and the ctag, each empty if the server has none. One request."""
        with self.multistatus("PROPFIND", request_bodies.propfind_state(self.kind)) as responses:
            for response in responses:
                if self.is_self(response):
                    self.check_type(response)
                    return response.text_of(f"{DAV}sync-token"), response.text_of(f"{CALENDARSERVER}getctag")
        return "", ""

    def sync(self, token: str) -> Listing | None:
        """The report sync-collection, with all its pages; None if the server refuses the token or the report.

        Tokens expire, and servers use many statuses for that; others list a report that they do not have.
        """
        try:
            return self._sync_collection(token)
        except CollectionMovedError:
            # Must come before CollectionGoneError, its base: the listing would be redirected, too.
            raise
        except (StatusError, MalformedResponseError, AccessDeniedError, CollectionGoneError) as error:
            if error.status in UNSUPPORTED_REPORT_STATUSES:
                self.record_unsupported_report("sync-collection")
            return None

    def _sync_collection(self, token: str) -> Listing | None:
        changed: dict[str, ListingEntry] = {}
        removed: dict[str, ListingEntry] = {}
        given = token
        for _ in range(_MAX_PAGES):
            is_cut = False
            idle_timeout = self.session.idle_timeout(READ_SECONDS if token else LISTING_SECONDS)
            body = request_bodies.sync_collection(self.kind, token)
            with idle_timeout, self.multistatus("REPORT", body) as responses:
                for response in responses:
                    if self.is_self(response):
                        # 507 for the collection itself: the result is truncated (RFC 6578, section 3.6).
                        is_cut = is_cut or response.status == 507
                    elif self._is_member(response):
                        self._collect(response, changed, removed)
            following = responses.sync_token
            if not is_cut:
                self.reported_gone = set(removed)
                # With an empty token the report lists the whole collection (RFC 6578, section 3.4).
                return Listing(
                    tuple(changed.values()),
                    tuple(removed.values()),
                    following or token,
                    is_full=not given,
                    is_unchanged=bool(given) and not changed and not removed,
                    may_repeat=_is_timestamp_token(token),
                )
            if following in {"", token}:
                break  # the token does not advance: the server would repeat this page for ever
            token = following
        return None

    def _collect(self, response: Response, changed: dict[str, ListingEntry], removed: dict[str, ListingEntry]) -> None:
        """Add a response; a later page overrides an earlier one."""
        entry = self._parse_entry(response)
        to, other = (removed, changed) if response.status in GONE_STATUSES else (changed, removed)
        other.pop(entry.key, None)
        to[entry.key] = entry
        self._check_count(to)

    def _parse_entry(self, response: Response) -> ListingEntry:
        return ListingEntry(response.href, self.key(response.href), parse_etag(response.text_of(f"{DAV}getetag")))

    def _is_member(self, response: Response) -> bool:
        content_type = response.text_of(f"{DAV}getcontenttype").lower()
        is_folder = response.href.endswith("/") or response.has_type(request_bodies.COLLECTION_TYPE)
        is_foreign = content_type.startswith((*_FOREIGN_TYPES, *self.kind.foreign_types))
        return 0 < len(response.href) <= MAX_URL_LENGTH and not is_folder and not is_foreign

    def _check_count(self, entries: Sized) -> None:
        """Raise TooManyMembersError if the listing does not end."""
        if len(entries) > self.kind.max_members:
            raise TooManyMembersError(self.kind.too_many)


def _is_timestamp_token(token: str) -> bool:
    """Whether a token is a time in seconds (SOGo). Such a token never expires, and changes of the same second are
    listed again."""
    return re.fullmatch("[0-9]{10}", token) is not None
