from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"

    def ready(self) -> None:
        from notifications.transfer import register_transfer  # noqa: PLC0415 - needs loaded models

        register_transfer()
        from notifications import checks, receivers  # noqa: F401, PLC0415 - registers them, and needs loaded models
