"""Fields that only accounts have."""

import zoneinfo
from functools import lru_cache
from typing import Any

from rest_framework import serializers

from accounts.models import User
from contacts_project.kernel.api.fields import Email, Text, check_text


class AccountEmail(Email):
    """The address that an account signs in with, and that mails reach as it stands.

    Its local part is ASCII, so that no look-alikes fold together, and no encoded word (RFC 2047), which mail headers
    would decode to another address. Its domain has an ASCII form, and is stored in the one spelling of it.
    """

    def to_internal_value(self, data: Any) -> str | None:
        text = super().to_internal_value(data)
        if text is None:
            return None
        local, _, domain = text.rpartition("@")
        if not local.isascii() or "=?" in local:
            raise serializers.ValidationError("The part before the @ must be plain ASCII.")
        try:
            domain.encode("idna")
        except UnicodeError:
            raise serializers.ValidationError("This is not an e-mail address.") from None
        address = User.objects.normalize_email(text)
        if len(address) > self.max_length:  # some letters have a longer form
            raise serializers.ValidationError("This is not an e-mail address.")
        return address


class Secret(Text):
    """A password or code, taken as typed: its spaces count, and it is never answered."""

    def __init__(self, max_length: int = 1000, **kwargs: Any) -> None:
        super().__init__(max_length, write_only=True, **kwargs)

    def to_internal_value(self, data: Any) -> str | None:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a text.")
        check_text(data)
        if not data:
            raise serializers.ValidationError("This must not be empty.")
        if len(data) > self.max_length:
            raise serializers.ValidationError(f"At most {self.max_length} characters.")
        return data


@lru_cache(maxsize=1)
def time_zones() -> frozenset[str]:
    """The names of all IANA time zones."""
    return frozenset(zoneinfo.available_timezones() - {"Factory", "localtime"})


class TimeZone(Text):
    """An IANA time zone name, such as Europe/Oslo."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(64, **kwargs)

    def to_internal_value(self, data: Any) -> str | None:
        name = super().to_internal_value(data)
        if name is not None and name not in time_zones():
            raise serializers.ValidationError("There is no such time zone: send an IANA name such as Europe/Oslo.")
        return name
