"""Refusals of DAV requests: a status, and the element of the precondition that failed (RFC 4918, 16)."""

from dataclasses import dataclass

from django.http import HttpResponse

from contacts_project.kernel.texts import Text, define_text
from dav.xml import CONTENT_TYPE, dav, document, tag, text


@dataclass
class DavError(Exception):
    """The request is refused. `condition` is the name of the failed precondition, `inner` the XML inside of it.

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


_READ_ONLY = define_text("dav_read_only", "This cannot be changed here.")


def missing() -> DavError:
    return DavError(404, words="There is nothing here.")


def need_privileges(path: str, privilege: str = "write-content") -> DavError:
    """RFC 3744, 7.1.1."""
    needed = tag(dav("href"), text(path)) + tag(dav("privilege"), tag(dav(privilege)))
    return DavError(403, dav("need-privileges"), _READ_ONLY, tag(dav("resource"), needed))
