from django.apps import AppConfig


class CardDavConfig(AppConfig):
    name = "carddav"

    def ready(self) -> None:
        from carddav.transfer import register_transfer  # noqa: PLC0415 - needs loaded models

        register_transfer()
