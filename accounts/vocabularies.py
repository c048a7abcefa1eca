"""The values of an account's preferences and tokens, shared by columns, serializers and rules."""

from django.db.models import TextChoices


class Theme(TextChoices):
    LIGHT = "LIGHT"
    DARK = "DARK"


class DateFormat(TextChoices):
    MDY = "MDY"
    DMY = "DMY"
    YMD = "YMD"


class NameOrder(TextChoices):
    WESTERN = "WESTERN"
    EASTERN = "EASTERN"


class NameDisplayFormat(TextChoices):
    FULL = "FULL"
    NICKNAME_PREFERRED = "NICKNAME_PREFERRED"
    SHORT = "SHORT"


class GraphMode(TextChoices):
    INDIVIDUALS = "individuals"
    BUBBLES = "bubbles"


class LeapDayRule(TextChoices):
    """The day on which 29 February is observed in a common year."""

    FEB28 = "FEB28"
    MAR1 = "MAR1"


class TokenScope(TextChoices):
    READ = "READ"
    READ_WRITE = "READ_WRITE"


class TokenKind(TextChoices):
    """How a token was created: in a session, for a script, or by signing in with an app."""

    TOKEN = "token"  # noqa: S105 - a word
    DEVICE = "device"
