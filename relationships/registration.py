"""Registers what this app adds to the apps below it."""

from accounts.lifecycle import on_account_created
from people.counts import register_counted
from people.extensions import register_extension
from relationships.counts import COUNTED_RELATIONSHIPS
from relationships.defaults import create_default_types
from relationships.extension import RelationshipsExtension
from relationships.feed import register_feed
from relationships.transfer import register_transfer
from relationships.trash import register_trash


def register_with_lower_apps() -> None:
    """Must be called once, when all models are loaded."""
    on_account_created(create_default_types)
    register_counted(COUNTED_RELATIONSHIPS)
    register_extension(RelationshipsExtension())
    register_trash()
    register_transfer()
    register_feed()
