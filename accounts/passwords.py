"""The password rule of the API, as a Django password validator."""

from django.core.exceptions import ValidationError

_KINDS = {
    "an uppercase letter": str.isupper,
    "a lowercase letter": str.islower,
    "a number": str.isdigit,
    "a special character": lambda character: not character.isalnum() and not character.isspace(),
}
_TEXT = "The password needs an uppercase letter, a lowercase letter, a number and a special character."


class CharacterKindsValidator:
    """Requires an uppercase and a lowercase letter, a digit and a special character."""

    def validate(self, password: str, user: object = None) -> None:
        missing = [name for name, fits in _KINDS.items() if not any(map(fits, password))]
        if missing:
            raise ValidationError(f"The password still needs {' and '.join(missing)}.", code="password_kinds")

    def get_help_text(self) -> str:
        return _TEXT
