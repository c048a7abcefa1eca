from django.apps import AppConfig


class CardDavConfig(AppConfig):
    name = "carddav"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.signals import on_account_deleted  # noqa: PLC0415 - as above
        from carddav import invariants, receivers  # noqa: F401, PLC0415 - as above, registers them
        from carddav.extension import CardDavExtension  # noqa: PLC0415 - as above
        from carddav.models.connection import MIRRORED_TRIGGERS  # noqa: PLC0415 - as above
        from carddav.services.undo import former_photo_paths, photos_used_by_runs  # noqa: PLC0415 - as above
        from carddav.transfer import register_transfer  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.triggers import register_triggers  # noqa: PLC0415 - as above
        from people.extensions import register_extension  # noqa: PLC0415 - as above
        from people.photos.files import register_reference_finder  # noqa: PLC0415 - as above

        register_extension(CardDavExtension())
        register_transfer()
        register_reference_finder(photos_used_by_runs)
        on_account_deleted(former_photo_paths)
        register_triggers(*MIRRORED_TRIGGERS)
