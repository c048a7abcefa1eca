from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"

    def ready(self) -> None:
        # These modules import models, which are all loaded only now.
        from accounts.feed.changes import FeedKind, register_feed_kind  # noqa: PLC0415 - as above
        from accounts.signals import on_account_claimed  # noqa: PLC0415 - as above
        from notifications import invariants, tasks  # noqa: F401, PLC0415 - as above, they register themselves
        from notifications.api.serializers import load_destinations  # noqa: PLC0415 - as above
        from notifications.models import Destination  # noqa: PLC0415 - as above
        from notifications.services.answers import snooze_contact  # noqa: PLC0415 - as above
        from notifications.services.destinations import disable_channels  # noqa: PLC0415 - as above
        from notifications.transfer import register_transfer  # noqa: PLC0415 - as above
        from people.extensions import register_snoozer  # noqa: PLC0415 - as above

        on_account_claimed(disable_channels)
        register_transfer()
        register_snoozer(snooze_contact)
        register_feed_kind(FeedKind(Destination, 80, load_destinations))
