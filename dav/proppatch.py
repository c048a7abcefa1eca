"""PROPPATCH (RFC 4918, 9.2): programs name and colour collections; nothing else can be set.

A refusal is inside of a 207, that of a READ token too: a refused request makes Apple's programs warn of the whole
account.
"""

import re
from xml.etree.ElementTree import Element

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_lock
from dav.errors import DavError
from dav.models import CollectionProperty
from dav.resources.base import Resource
from dav.xml import FORBIDDEN, OK, Propstat, apple, dav, response, tag

MAX_LENGTH = 200
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?")
_ORDER = re.compile(r"-?[0-9]{1,9}")
SETTABLE = {
    dav("displayname"): re.compile(rf"[^\x00-\x1f]{{1,{MAX_LENGTH}}}"),
    apple("calendar-color"): _COLOR,
    apple("calendar-order"): _ORDER,
}
_FAILED_DEPENDENCY = "HTTP/1.1 424 Failed Dependency"


def patch_properties(resource: Resource, root: Element | None) -> str:
    """Set and remove properties, all or none; returns the response element. Raises DavError."""
    if root is None or root.tag != dav("propertyupdate"):
        raise DavError(400, words="The body of PROPPATCH is a propertyupdate element.")
    changes: dict[str, str | None] = {}
    for update in root:
        for element in update.findall(f"{dav('prop')}/*"):
            value = "".join(element.itertext()).strip()
            changes[element.tag] = value if update.tag == dav("set") else None
    device, collection = resource.device, resource.collection
    may_set = collection and not device.is_read_only
    refused = {name for name, value in changes.items() if not may_set or not _is_settable(name, value)}
    if changes and not refused:
        _store(device.owner, collection, changes)
    found = Propstat(errors={FORBIDDEN: tag(dav("need-privileges"))} if device.is_read_only else {})
    for name in changes:
        found.add(FORBIDDEN if name in refused else _FAILED_DEPENDENCY if refused else OK, tag(name))
    return response(resource.path, found)


def _is_settable(name: str, value: str | None) -> bool:
    form = SETTABLE.get(name)
    return form is not None and (value is None or form.fullmatch(value) is not None)


def _store(owner: User, collection: str, changes: dict[str, str | None]) -> None:
    with account_lock(owner):
        rows = CollectionProperty.objects.owned_by(owner).filter(collection=collection)
        rows.filter(name__in=changes).delete()
        CollectionProperty.objects.bulk_create(
            CollectionProperty(owner=owner, collection=collection, name=name, value=value)
            for name, value in changes.items()
            if value is not None
        )
