from django.apps import AppConfig


class CardDavConfig(AppConfig):
    name = "carddav"

    def ready(self) -> None:
        from carddav import invariants  # noqa: F401, PLC0415 - registers them
        from carddav.registration import register_with_lower_apps  # noqa: PLC0415 - needs loaded models

        register_with_lower_apps()
