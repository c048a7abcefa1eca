"""What remains of a card whose person is deleted."""

from carddav.models import UNSENT, Mapping, MappingStatus, Tombstone, TombstoneState


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


def requeue_as_new(mapping: Mapping, href: str = "") -> None:
    """Reset the mapping to a card that was never written, or that was sent under `href`. Must be called inside the
    write."""
    mapping.href, mapping.href_key, mapping.etag, mapping.remote_raw = href, f"new:{mapping.person_id}", None, ""
    mapping.base_local, mapping.base_remote, mapping.local_rev = {}, {}, UNSENT
    mapping.status, mapping.error, mapping.body_hash = MappingStatus.DIRTY, "", ""
    mapping.save()
