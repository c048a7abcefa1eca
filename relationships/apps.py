from django.apps import AppConfig


class RelationshipsConfig(AppConfig):
    name = "relationships"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.lifecycle import on_account_created  # noqa: PLC0415 - as above
        from people.counts import register_counted  # noqa: PLC0415 - as above
        from people.extensions import register_extension  # noqa: PLC0415 - as above
        from relationships import invariants  # noqa: F401, PLC0415 - as above, registers them
        from relationships.counts import COUNTED_RELATIONSHIPS  # noqa: PLC0415 - as above
        from relationships.defaults import create_default_types  # noqa: PLC0415 - as above
        from relationships.extension import RelationshipsExtension  # noqa: PLC0415 - as above
        from relationships.feed import register_feed  # noqa: PLC0415 - as above
        from relationships.transfer import register_transfer  # noqa: PLC0415 - as above
        from relationships.trash import register_trash  # noqa: PLC0415 - as above

        on_account_created(create_default_types)
        register_counted(COUNTED_RELATIONSHIPS)
        register_extension(RelationshipsExtension())
        register_trash()
        register_transfer()
        register_feed()
