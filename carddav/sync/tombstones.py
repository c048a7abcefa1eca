"""What remains of a card whose person is deleted."""

from carddav.models import Mapping, Tombstone, TombstoneState


def put_tombstone(mapping: Mapping, state: TombstoneState) -> None:
    """Record what becomes of the card of a deleted person. Must be called inside the write."""
    values = {
        "person_id": mapping.person_id,
        "href": mapping.href,
        "uid": mapping.uid,
        "etag": mapping.etag,
        "remote_raw": mapping.remote_raw,
        "state": state,
    }
    Tombstone.objects.owned_by(mapping.owner_id).update_or_create(
        connection_id=mapping.connection_id,
        href_key=mapping.href_key,
        defaults=values,
        create_defaults={"owner_id": mapping.owner_id, **values},
    )
