"""Which texts are accepted, and what is said of values that are not. Independent of HTTP."""

import re
from contextlib import suppress

from contacts_project.kernel.text_forms import ascii_domain, nfc
from contacts_project.kernel.texts import Text, define_text

NOT_A_TEXT = define_text("not_a_text", "This must be a text.")
BLANK = define_text("blank", "This must not be empty.")
TOO_LONG = define_text("too_long", "At most %(limit)s characters, this has %(length)s.")
NOT_AN_EMAIL = define_text("not_an_email", "This is not an e-mail address.")
NOT_A_NUMBER = define_text("not_a_number", "This must be a number.")
OUT_OF_RANGE = define_text("out_of_range", "This must be between %(low)s and %(high)s.")
NOT_A_BOOLEAN = define_text("not_a_boolean", "This must be true or false.")
NOT_A_CHOICE = define_text("not_a_choice", "This must be one of %(choices)s.")
_FORBIDDEN = define_text("forbidden_character", "The character %(character)s is not allowed in text.")

# Control characters but tab and newline, and lone surrogates, which UTF-8 cannot encode.
_FORBIDDEN_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN_LABEL = re.compile(r"[^\W_]([^\W_]|-){0,62}")


class InvalidTextError(ValueError):
    """The text is not accepted, for the reason `text`."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text


def check_text(value: str) -> str:
    """Return `value` trimmed, in NFC, with LF line ends.

    Raises InvalidTextError for control characters and lone surrogates.
    """
    value = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if bad := _FORBIDDEN_CHARACTER.search(value):
        raise InvalidTextError(_FORBIDDEN.format(character=f"U+{ord(bad.group()):04X}"))
    return nfc(value)


def is_email(address: str) -> bool:
    """Whether `address` is a mailbox at a domain name.

    The same addresses as Django's EmailValidator accepts, except quoted local parts and IP address literals; and those
    whose domain has an ASCII form by IDNA 2008, where Django knows that of 2003.
    """
    local, at, domain = address.rpartition("@")
    with suppress(UnicodeError):
        domain = ascii_domain(domain)
    labels = domain.split(".")
    return (
        len(address) <= 254
        and bool(at)
        and len(local) <= 64
        and _LOCAL_PART.fullmatch(local) is not None
        and 2 <= len(labels) <= 100
        and all(_DOMAIN_LABEL.fullmatch(label) and not label.endswith("-") for label in labels)
        and len(labels[-1]) >= 2
        and not labels[-1].isdigit()
    )
