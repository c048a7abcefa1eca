"""Accounts, their credentials and preferences."""

from accounts.models.account_mail import AccountMail, MailKind
from accounts.models.account_session import AccountSession
from accounts.models.api_token import ApiToken
from accounts.models.app_code import AppCode
from accounts.models.email_change import EmailChange
from accounts.models.known_device import KnownDevice
from accounts.models.oidc_identity import OidcIdentity
from accounts.models.pending_file_deletion import PendingFileDeletion
from accounts.models.registration_lock import RegistrationLock
from accounts.models.second_factor import RecoveryCode, TotpDevice
from accounts.models.stored_response import StoredResponse
from accounts.models.user import User

__all__ = [
    "AccountMail",
    "AccountSession",
    "ApiToken",
    "AppCode",
    "EmailChange",
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
