"""Registers this app's share in others; called once the models are loaded."""

from carddav import receivers  # noqa: F401 - registers them
from carddav.extension import CardDavExtension
from carddav.transfer import register_transfer
from people.extensions import register_extension


def wire() -> None:
    """Once, from AppConfig.ready()."""
    register_extension(CardDavExtension())
    register_transfer()
