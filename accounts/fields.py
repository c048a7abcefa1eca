"""Fields that only accounts have."""

import zoneinfo
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from rest_framework import serializers

from accounts.models import User
from contacts_project.kernel.api.fields import StrictCharField, check_text


class AccountEmail(StrictCharField):
    """The address that an account signs in with, and that mails reach as it stands.

    At most 254 characters (RFC 5321, section 4.5.3.1.3, less the brackets).
    Its local part is ASCII, so that no look-alikes fold together, and no encoded word (RFC 2047), which mail headers
    would decode to another address. Its domain has an ASCII form, and is stored in the one spelling of it.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=254, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if text is None:
            return None
        try:
            validate_email(text)
        except ValidationError:
            raise serializers.ValidationError("This is not an e-mail address.") from None
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


class Secret(StrictCharField):
    """A password or code, taken as typed: its spaces count, and it is never answered."""

    def __init__(self, *, max_length: int = 1000, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, write_only=True, allow_blank=False, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid")
        check_text(data)
        if not data:
            self.fail("blank")
        if len(data) > self.max_length:
            raise serializers.ValidationError(f"At most {self.max_length} characters.")
        return data


@lru_cache(maxsize=1)
def time_zones() -> frozenset[str]:
    """The names of all IANA time zones."""
    return frozenset(zoneinfo.available_timezones() - {"Factory", "localtime"})


class TimeZone(StrictCharField):
    """An IANA time zone name, such as Europe/Oslo."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=64, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        name = super().to_internal_value(data)
        if name is not None and name not in time_zones():
            raise serializers.ValidationError("There is no such time zone: send an IANA name such as Europe/Oslo.")
        return name
