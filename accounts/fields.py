"""Serializer fields that only accounts use."""

import re
import zoneinfo
from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import User
from accounts.passwords import MAX_PASSWORD_LENGTH
from contacts_project.kernel.api.errors import NOT_A_LIST, InvalidError
from contacts_project.kernel.api.fields import TOO_MANY_ENTRIES, StrictCharField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.text_forms import (
    NOT_AN_EMAIL,
    TOO_LONG,
    InvalidTextError,
    ascii_domain,
    check_text,
    mail_address,
)
from contacts_project.kernel.texts import define_text

_NOT_ASCII = define_text("email_not_ascii", "The part before the @ must be plain ASCII.")
_NO_ZONE = define_text("no_such_time_zone", "There is no such time zone: send an IANA name such as Europe/Oslo.")
_NO_TIME = define_text("not_a_time_of_day", "This must be a time of day such as 22:30.")
_ONE_TIME = define_text("quiet_hours_incomplete", "Send both times, or null for both.")
_SAME_TIME = define_text("quiet_hours_empty", "This must differ from where the quiet hours begin.")


class AccountEmailField(StrictCharField):
    """The address that an account signs in with, and that mails can be sent to unchanged.

    At most 254 characters (RFC 5321, section 4.5.3.1.3, without the angle brackets). The local part must be ASCII, so
    that no two look-alike addresses fold to the same one, and must not contain an encoded word (RFC 2047), which mail
    headers would decode to another address. The domain must have an ASCII form (IDNA 2008), and is stored normalized.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=254, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if text is None:
            return None
        try:
            # In ASCII: Django would encode the domain by IDNA 2003.
            validate_email(mail_address(text))
        except ValidationError:
            raise InvalidError(NOT_AN_EMAIL) from None
        local, _, domain = text.rpartition("@")
        if not local.isascii() or "=?" in local:
            raise InvalidError(_NOT_ASCII)
        try:
            ascii_domain(domain)
        except UnicodeError:
            raise InvalidError(NOT_AN_EMAIL) from None
        address = User.objects.normalize_email(text)
        if len(address) > self.max_length:  # the normalized form of some letters is longer
            raise InvalidError(NOT_AN_EMAIL)
        return address


class SecretField(StrictCharField):
    """A password or code, exactly as typed, including spaces. Write-only."""

    def __init__(self, *, max_length: int = MAX_PASSWORD_LENGTH, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, write_only=True, allow_blank=False, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid")
        try:
            check_text(data)
        except InvalidTextError as error:
            raise InvalidError(error.text) from None
        if not data:
            self.fail("blank")
        if len(data) > self.max_length:
            raise InvalidError(TOO_LONG.format(limit=self.max_length, length=len(data)))
        return data


@lru_cache(maxsize=1)
def time_zones() -> frozenset[str]:
    """The names of all IANA time zones."""
    # `Factory` stands for an unset zone, and `localtime` would be the server's.
    return frozenset(zoneinfo.available_timezones() - {"Factory", "localtime"})


class TimeZoneField(StrictCharField):
    """An IANA time zone name, such as Europe/Oslo."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=64, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        name = super().to_internal_value(data)
        if name is not None and name not in time_zones():
            raise InvalidError(_NO_ZONE)
        return name


class SavedListSerializer(serializers.Serializer[Any]):
    """A list of people that the owner kept under a name. What the query means is the client's business."""

    name = StrictCharField(max_length=60, allow_blank=False)
    query = StrictCharField(max_length=1000, allow_blank=False)

    def to_internal_value(self, data: object) -> JsonObject:
        """As it is stored: JSON."""
        return dict(super().to_internal_value(data))


class SavedListsField(serializers.ListField):
    """All kept lists, in the order of the owner."""

    MAX_LISTS = 50

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=SavedListSerializer(), max_length=self.MAX_LISTS, **kwargs)

    def to_internal_value(self, data: object) -> list[JsonObject]:
        if not isinstance(data, list):
            raise InvalidError(NOT_A_LIST)
        if len(data) > self.MAX_LISTS:
            raise InvalidError(TOO_MANY_ENTRIES.format(limit=self.MAX_LISTS))
        lists: list[JsonObject] = super().to_internal_value(data)
        return lists


_TIME_OF_DAY = r"([01][0-9]|2[0-3]):[0-5][0-9]"


@extend_schema_field({"type": "string", "pattern": f"^{_TIME_OF_DAY}$"})
class TimeOfDayField(StrictCharField):
    """A time of day, HH:MM."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=5, allow_blank=False, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or not re.fullmatch(_TIME_OF_DAY, data, re.ASCII):
            raise InvalidError(_NO_TIME)
        return data


class QuietHoursSerializer(serializers.Serializer[Any]):
    """When an account wants to be told nothing: from the one time to the other, past midnight where that is earlier."""

    is_optional = False

    def get_fields(self) -> dict[str, Any]:
        # Not attributes of the class: `from` is a keyword of Python.
        return {name: TimeOfDayField(allow_null=self.is_optional) for name in ("from", "to")}

    def validate(self, attrs: JsonObject) -> JsonObject:
        if missing := [name for name, value in attrs.items() if value is None]:
            if len(missing) == len(attrs):
                return attrs
            raise InvalidError({missing[0]: [_ONE_TIME]})
        if attrs["from"] == attrs["to"]:
            raise InvalidError({"to": [_SAME_TIME]})
        return attrs
