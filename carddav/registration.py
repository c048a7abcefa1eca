"""Registers this app's share in others; called once the models are loaded."""

from accounts.lifecycle import on_account_deleted
from carddav import receivers  # noqa: F401 - registers them
from carddav.extension import CardDavExtension
from carddav.services.former_photos import former_photos_of, used_by_runs
from carddav.transfer import register_transfer
from people.extensions import register_extension
from people.photos.files import register_use


def wire() -> None:
    """Once, from AppConfig.ready()."""
    register_extension(CardDavExtension())
    register_transfer()
    register_use(used_by_runs)
    on_account_deleted(former_photos_of)
