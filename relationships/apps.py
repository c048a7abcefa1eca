from django.apps import AppConfig


class RelationshipsConfig(AppConfig):
    name = "relationships"

    def ready(self) -> None:
        from relationships import invariants  # noqa: F401, PLC0415 - registers them
        from relationships.registration import wire  # noqa: PLC0415 - needs loaded models

        wire()
