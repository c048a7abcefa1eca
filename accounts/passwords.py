"""The spelling in which a password is hashed and compared, and the API's rule for passwords as Django validators."""

from typing import Any

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import MinimumLengthValidator, validate_password
from django.core.exceptions import ValidationError

from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.text_forms import nfc
from contacts_project.kernel.texts import Text, define_text

#: A longer text is no password: the API refuses it, and it is hashed and compared as it is.
MAX_PASSWORD_LENGTH = 1000

_KINDS = {
    define_text("kind_uppercase", "an uppercase letter"): str.isupper,
    define_text("kind_lowercase", "a lowercase letter"): str.islower,
    define_text("kind_number", "a number"): str.isdigit,
    define_text("kind_special", "a special character"): lambda character: (
        not character.isalnum() and not character.isspace()
    ),
}
#: What is wrong with a password, by the code of Django's validator.
_PROBLEMS = {
    "password_too_short": define_text("password_too_short", "it has fewer than %(min_length)s characters"),
    "password_too_similar": define_text("password_too_similar", "it is too similar to what the account says of you"),
    "password_too_common": define_text("password_too_common", "it is used by too many people"),
    "password_entirely_numeric": define_text("password_entirely_numeric", "it consists of numbers alone"),
    "password_kinds": define_text("password_kinds", "it still needs %(kinds)s"),
}
WEAK_PASSWORD = define_text("weak_password", "The password is not good enough: %(problems)s.")
WRONG_PASSWORD = define_text("wrong_password", "This is not the password.")
_TEXT = "The password needs an uppercase letter, a lowercase letter, a number and a special character."


def normalize_password(password: str) -> str:
    """`password` in NFC: keyboards write a letter and its accent as one character or as two (RFC 8265, section 4.2.2).

    Nothing else of that profile is done: its mapping of other spaces to U+0020 would lock out whoever has such a space
    in a password of before, and typed text differs in its normal form alone.
    """
    return nfc(password) if len(password) <= MAX_PASSWORD_LENGTH else password


def hash_password(password: str | None) -> str:
    """The hash to store; an unusable one for None. Slow by design."""
    return make_password(None if password is None else normalize_password(password))


def is_password(password: str, encoded: str) -> bool:
    """Whether the hash is that of `password`, in NFC, or as it was typed: hashes of former versions are of that text.

    The number of hashes that a wrong password takes depends on what was typed alone, also for an unusable hash.
    """
    normalized = normalize_password(password)
    return check_password(normalized, encoded) or (password != normalized and check_password(password, encoded))


class LengthValidator(MinimumLengthValidator):
    """Django's, counting the characters of the normalized password."""

    def validate(self, password: str, user: Any = None) -> None:
        super().validate(normalize_password(password), user)


class CharacterKindsValidator:
    """Requires an uppercase and a lowercase letter, a digit and a special character."""

    def validate(self, password: str, user: object = None) -> None:
        # A decomposed accent would count as a special character.
        characters = normalize_password(password)
        missing = [name for name, fits in _KINDS.items() if not any(map(fits, characters))]
        if missing:
            raise ValidationError("password_kinds", code="password_kinds", params={"kinds": missing})

    def get_help_text(self) -> str:
        return _TEXT


def check_password_rules(password: str, user: Any, field: str = "password") -> None:
    """Raises FieldError with everything that is wrong with the password of the account `user`."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise FieldError(field, _describe_weakness(error)) from None


def _describe_weakness(error: ValidationError) -> Text:
    """Everything that the validators found wrong with a password."""
    found = []
    for problem in error.error_list:
        text = _PROBLEMS.get(problem.code or "") or Text("password_problem", "".join(problem.messages))
        params = {name: value for name, value in (problem.params or {}).items() if name in text.placeholders}
        found.append(text.format(**params) if params else text)
    return WEAK_PASSWORD.format(problems=found)
