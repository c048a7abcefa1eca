"""Accounts, their credentials and preferences."""

from accounts.models.mails import AccountMail, EmailChange, MailKind
from accounts.models.sign_in import (
    AccountSession,
    EndedCredential,
    KnownDevice,
    OidcIdentity,
    RecoveryCode,
    RegistrationLock,
    TotpDevice,
)
from accounts.models.tokens import ApiToken, AppCode, StoredResponse
from accounts.models.user import PendingFileDeletion, User

__all__ = [
    "AccountMail",
    "AccountSession",
    "ApiToken",
    "AppCode",
    "EmailChange",
    "EndedCredential",
    "KnownDevice",
    "MailKind",
    "OidcIdentity",
    "PendingFileDeletion",
    "RecoveryCode",
    "RegistrationLock",
    "StoredResponse",
    "TotpDevice",
    "User",
]
