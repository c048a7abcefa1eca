"""The values of an account's preferences and tokens, shared by columns, serializers and rules."""

from contacts_project.kernel.vocabularies import Vocabulary


class Theme(Vocabulary):
    LIGHT = "LIGHT"
    DARK = "DARK"


class DateFormat(Vocabulary):
    MDY = "MDY"
    DMY = "DMY"
    YMD = "YMD"


class NameOrder(Vocabulary):
    WESTERN = "WESTERN"
    EASTERN = "EASTERN"


class NameSort(Vocabulary):
    """How the list of people is sorted: by name and surname, by surname and name, or by display name."""

    GIVEN = "GIVEN"
    SURNAME = "SURNAME"
    SHOWN = "SHOWN"


class NameDisplayFormat(Vocabulary):
    FULL = "FULL"
    NICKNAME_PREFERRED = "NICKNAME_PREFERRED"
    SHORT = "SHORT"


class GraphMode(Vocabulary):
    INDIVIDUALS = "individuals"
    BUBBLES = "bubbles"


class DateReminders(Vocabulary):
    """Which important dates get a reminder that arrive without a word about one."""

    NONE = "none"
    BIRTHDAYS = "birthdays"
    ALL = "all"


class LeapDayRule(Vocabulary):
    """The day on which 29 February is observed in a common year."""

    FEB28 = "FEB28"
    MAR1 = "MAR1"


class TokenScope(Vocabulary):
    READ = "READ"
    READ_WRITE = "READ_WRITE"


class EndReason(Vocabulary):
    """Why a session or token ended, as a 401 says it."""

    EXPIRED = "session_expired"
    REVOKED = "session_revoked"  # signed out, password changed, token deleted, account switched off
    DELETED = "account_deleted"


class TokenKind(Vocabulary):
    """How a token was created: in a session, for a script, or by signing in with an app."""

    TOKEN = "token"  # noqa: S105 - a word
    DEVICE = "device"
