"""What sharing adds to people in answers. Loaded by every process, so without the routes and their description."""

from typing import Any

from rest_framework import serializers

from sharing.models import ShownState


class PersonShareSerializer(serializers.Serializer[Any]):
    """A share that a person is in."""

    shareId = serializers.UUIDField()
    name = serializers.CharField()
    state = serializers.ChoiceField(list(ShownState.values))
