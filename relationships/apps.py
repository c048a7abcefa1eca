from django.apps import AppConfig


class RelationshipsConfig(AppConfig):
    name = "relationships"

    def ready(self) -> None:
        from relationships import invariants  # noqa: F401, PLC0415 - registers them
        from relationships.registration import register_with_lower_apps  # noqa: PLC0415 - needs loaded models

        register_with_lower_apps()
