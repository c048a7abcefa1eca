"""The password rule of the API, as a Django password validator."""

from django.core.exceptions import ValidationError

from contacts_project.kernel.texts import Text, define_text

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
_TEXT = "The password needs an uppercase letter, a lowercase letter, a number and a special character."


class CharacterKindsValidator:
    """Requires an uppercase and a lowercase letter, a digit and a special character."""

    def validate(self, password: str, user: object = None) -> None:
        missing = [name for name, fits in _KINDS.items() if not any(map(fits, password))]
        if missing:
            raise ValidationError("password_kinds", code="password_kinds", params={"kinds": missing})

    def get_help_text(self) -> str:
        return _TEXT


def describe_weakness(error: ValidationError) -> Text:
    """Everything that the validators found wrong with a password."""
    found = []
    for problem in error.error_list:
        text = _PROBLEMS.get(problem.code or "") or Text("password_problem", "".join(problem.messages))
        params = {name: value for name, value in (problem.params or {}).items() if name in text.placeholders}
        found.append(text.format(**params) if params else text)
    return WEAK_PASSWORD.format(problems=found)
