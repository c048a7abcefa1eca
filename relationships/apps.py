from django.apps import AppConfig


class RelationshipsConfig(AppConfig):
    name = "relationships"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.feed.changes import FeedKind, register_feed_kind  # noqa: PLC0415 - as above
        from accounts.signals import on_account_created, on_language_changed  # noqa: PLC0415 - as above
        from people.counts import register_counted  # noqa: PLC0415 - as above
        from people.extensions import register_extension  # noqa: PLC0415 - as above
        from people.models import RelationshipType  # noqa: PLC0415 - as above
        from people.trash import TrashKind, register_trash_kind  # noqa: PLC0415 - as above
        from relationships import invariants, projection  # noqa: F401, PLC0415 - as above, the first registers itself
        from relationships.extension import RelationshipsExtension  # noqa: PLC0415 - as above
        from relationships.models import COUNTED_RELATIONSHIPS, Relationship  # noqa: PLC0415 - as above
        from relationships.services.relationships import remove_relationships  # noqa: PLC0415 - as above
        from relationships.services.types import create_default_types, remove_types, translate_types  # noqa: PLC0415 - as above
        from relationships.transfer import register_transfer  # noqa: PLC0415 - as above

        on_account_created(create_default_types)
        on_language_changed(translate_types)
        register_counted(COUNTED_RELATIONSHIPS)
        register_extension(RelationshipsExtension())
        register_transfer()
        register_feed_kind(
            FeedKind(RelationshipType, 20, projection.load_types),
            FeedKind(Relationship, 60, projection.load_relationships),
        )
        # The purge runs in this order: relationships refer to types, so they go first.
        register_trash_kind(
            TrashKind(
                name="relationships",
                model=Relationship,
                serialize=projection.serialize_relationships,
                remove=remove_relationships,
            )
        )
        register_trash_kind(
            TrashKind(
                name="relationshipTypes",
                model=RelationshipType,
                serialize=lambda _, rows: [projection.serialize_type(row) for row in rows.select_related("inverse")],
                remove=remove_types,
            )
        )
