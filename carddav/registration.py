"""Registers this app with the others; called once the models are loaded."""

from accounts.lifecycle import on_account_deleted
from carddav import receivers  # noqa: F401 - registers them
from carddav.extension import CardDavExtension
from carddav.models import Connection
from carddav.services.former_photos import former_photo_paths, photos_used_by_runs
from carddav.transfer import register_transfer
from contacts_project.kernel.database.triggers import Trigger, register_triggers
from people.extensions import register_extension
from people.photos.files import register_reference_finder


def register_with_lower_apps() -> None:
    """Called once, by AppConfig.ready()."""
    register_extension(CardDavExtension())
    register_transfer()
    register_reference_finder(photos_used_by_runs)
    on_account_deleted(former_photo_paths)
    register_triggers(
        _mirrored_trigger("INSERT", "NEW", is_mirrored=True), _mirrored_trigger("DELETE", "OLD", is_mirrored=False)
    )


def _mirrored_trigger(event: str, row: str, *, is_mirrored: bool) -> Trigger:
    """A trigger that keeps User.is_mirrored, so that a write knows without a query whether there is a connection."""
    body = f"UPDATE accounts_user SET is_mirrored = {is_mirrored} WHERE id = {row}.owner_id"  # noqa: S608 - no input
    table = Connection._meta.db_table
    return Trigger(f"mirrored_{event.lower()}", table, event, body, writes="accounts_user")
