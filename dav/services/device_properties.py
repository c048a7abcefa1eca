"""The vCard properties and parameters that a device knows: those that it has ever sent."""

from collections.abc import Collection

from django.utils import timezone

from dav.authentication import Credentials
from dav.models import Device

# The row comes with each request. Programs send up to a hundred names; what is beyond counts as never sent, and stays.
_MAX_NAMES, _MAX_NAME_LENGTH = 1000, 100


def known_properties(device: Credentials) -> set[str]:
    """The names of the properties and parameters (`sent_names`) that a device had ever sent when the request began."""
    known = set(device.known.sent_properties) if device.known else set()
    return known - {"CATEGORIES"} if device.has_group_cards else known


def note_properties(device: Credentials, names: Collection[str]) -> None:
    """Remember what the device has sent."""
    if device.known is not None and set(device.known.sent_properties).issuperset(names):
        return
    row = Device.objects.owned_by(device.owner).filter(token=device.token).first()
    known = set(row.sent_properties) if row else set()
    new = sorted(name for name in set(names) - known if len(name) <= _MAX_NAME_LENGTH)[: _MAX_NAMES - len(known)]
    if row is not None and not new:
        return
    Device.objects.bulk_create(
        [
            Device(
                owner=device.owner,
                token=device.token,
                last_seen_at=timezone.now(),
                sent_properties=sorted(known.union(new)),
            )
        ],
        update_conflicts=True,
        unique_fields=["token"],
        update_fields=["sent_properties"],
    )
