"""The status and code with which the API answers each error of this app."""

from accounts.api.authentication import CsrfError, EndedCredentialError, ReadOnlyTokenError, SessionRequiredError
from accounts.api.batch_runner import BatchFailedError, NotInBatchError
from accounts.api.views.second_factor import ProofRequiredError
from accounts.feed.cursor import CursorExpiredError
from accounts.oidc.app_requests import RedirectUriError
from accounts.oidc.flow import FlowError, ProviderRefusedError
from accounts.services.addresses import AddressTakenError, SignInRequiredError
from accounts.services.registration import RegistrationClosedError
from accounts.services.second_factor import MfaEnabledError, MfaNotEnabledError, MfaRequiredError
from accounts.services.sign_in import EmailUnverifiedError, InvalidCredentialsError
from accounts.services.stored_responses import InProgressError, KeyReusedError
from accounts.services.tokens import InvalidGrantError, SessionEndedError, TooManyTokensError
from accounts.vocabularies import EndReason
from contacts_project.kernel.api.errors import Failure
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.ownership.client_ids import IdTakenError

FAILURES: dict[type[Exception], Failure] = {
    AccountGoneError: Failure(401, EndReason.DELETED),
    AddressTakenError: Failure(400, "address_taken"),
    BatchFailedError: Failure(424, "batch_failed"),
    MfaEnabledError: Failure(400, "mfa_enabled"),
    CsrfError: Failure(403, "csrf"),
    CursorExpiredError: Failure(410, "cursor_expired"),
    EndedCredentialError: Failure(401, codes=tuple(EndReason.values)),
    EmailUnverifiedError: Failure(403, "email_unverified"),
    InProgressError: Failure(409, "in_progress"),
    KeyReusedError: Failure(422, "idempotency_conflict"),
    FlowError: Failure(400, "invalid_state"),
    IdTakenError: Failure(409, "id_taken"),
    InvalidCredentialsError: Failure(401, "invalid_credentials"),
    InvalidGrantError: Failure(400, "invalid_grant"),
    MfaRequiredError: Failure(401, "mfa_required"),
    NotInBatchError: Failure(400, "not_in_batch"),
    MfaNotEnabledError: Failure(400, "mfa_not_enabled"),
    ProofRequiredError: Failure(403, "proof_required"),
    ProviderRefusedError: Failure(401, "oidc_refused"),
    ReadOnlyTokenError: Failure(403, "read_only_token"),
    RedirectUriError: Failure(400, "invalid_redirect_uri"),
    RegistrationClosedError: Failure(403, "registration_closed"),
    SessionEndedError: Failure(401, EndReason.REVOKED),
    SessionRequiredError: Failure(403, "session_required"),
    SignInRequiredError: Failure(401, "sign_in_required"),
    TooManyTokensError: Failure(409, "too_many_tokens"),
}
