from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "people"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        import people.checks  # noqa: PLC0415 - as above
        import people.invariants  # noqa: PLC0415 - as above
        import people.receivers  # noqa: F401, PLC0415 - as above
        from accounts.signals import on_account_deleted  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.triggers import register_triggers  # noqa: PLC0415 - as above
        from people.counts import COUNTED_OF_PEOPLE, COUNTED_PHOTOS, register_counted  # noqa: PLC0415 - as above
        from people.dates.next_dates import register_next_dates  # noqa: PLC0415 - as above
        from people.feed import register_feed  # noqa: PLC0415 - as above
        from people.lookup import TRIGGERS  # noqa: PLC0415 - as above
        from people.photos.files import account_photo_paths  # noqa: PLC0415 - as above
        from people.services.me_person import TRIGGER  # noqa: PLC0415 - as above
        from people.transfer import register_transfer  # noqa: PLC0415 - as above
        from people.trash import register_kinds  # noqa: PLC0415 - as above

        register_counted(*COUNTED_OF_PEOPLE, COUNTED_PHOTOS)
        register_triggers(*TRIGGERS, TRIGGER)
        register_next_dates()
        register_kinds()
        register_transfer()
        register_feed()
        on_account_deleted(account_photo_paths)
