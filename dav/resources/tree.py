"""Finds the resource that a path names for a device. What is another account's does not exist."""

from dav.authentication import Credentials
from dav.errors import missing
from dav.resources.base import Resource
from dav.resources.book import BookResource
from dav.resources.own_calendars import CALENDARS
from dav.resources.paths import ROOT, Place, book_path
from dav.resources.principals import find_above_collections


def find_resource(device: Credentials, place: Place) -> Resource:
    """The resource at the place. Raises DavError (404)."""
    found = _find(device, place)
    if found is None:
        raise missing()
    return found


def _find(device: Credentials, place: Place) -> Resource | None:
    path = f"{ROOT}{'/'.join(place.segments)}/" if place.segments else ROOT
    if above := find_above_collections(device, path):
        return above
    book = book_path(device.owner.pk)
    if path == book:
        return BookResource(device, book)
    if path.startswith(book) and len(place.segments) == 4:
        return BookResource(device, book).find(place.segments[3])
    for calendar in (kind.of(device) for kind in CALENDARS):
        if path == calendar.path:
            return calendar
        if path.startswith(calendar.path) and len(place.segments) == 4:
            return calendar.find(place.segments[3])
    return None
