from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"

    def ready(self) -> None:
        from accounts.lifecycle import on_account_claimed  # noqa: PLC0415 - needs loaded models
        from notifications.feed import register_feed  # noqa: PLC0415 - needs loaded models
        from notifications.services.claimed_accounts import disable_channels  # noqa: PLC0415 - needs loaded models
        from notifications.services.snoozed_contacts import snooze_contact  # noqa: PLC0415 - needs loaded models
        from notifications.transfer import register_transfer  # noqa: PLC0415 - needs loaded models
        from people.extensions import register_snoozer  # noqa: PLC0415 - needs loaded models

        register_transfer()
        register_snoozer(snooze_contact)
        register_feed()
        on_account_claimed(disable_channels)
        from notifications import invariants, receivers  # noqa: F401, PLC0415 - registers them, and needs loaded models
