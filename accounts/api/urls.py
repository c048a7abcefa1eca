"""Routes of accounts, all below /api/."""

from django.urls import URLPattern, URLResolver, path

from accounts.api.errors import FAILURES
from accounts.api.preferences import preference_views
from accounts.api.views import (
    access,
    api_tokens,
    deletion,
    oidc,
    profile,
    second_factor,
    sessions,
    transfer,
    verification,
)
from contacts_project.kernel.api.errors import register_failures

register_failures(FAILURES)

urlpatterns: list[URLPattern | URLResolver] = [
    path("auth/csrf", access.CsrfView.as_view()),
    path("auth/register", access.RegisterView.as_view()),
    path("auth/login", access.LoginView.as_view()),
    path("auth/logout", access.LogoutView.as_view()),
    path("auth/session", access.SessionView.as_view()),
    path("auth/verify-email", verification.VerifyEmailView.as_view()),
    path("auth/take-back-email", verification.TakeBackEmailView.as_view()),
    path("auth/resend-verification", verification.ResendVerificationView.as_view()),
    path("auth/forgot-password", verification.ForgotPasswordView.as_view()),
    path("auth/reset-password", verification.ResetPasswordView.as_view()),
    path("auth/providers", oidc.ProvidersView.as_view()),
    path("auth/oidc/start", oidc.OidcStartView.as_view()),
    path("auth/oidc/callback", oidc.OidcCallbackView.as_view()),
    path("auth/oidc/second-factor", oidc.OidcSecondFactorView.as_view()),
    path("user/profile", profile.ProfileView.as_view()),
    path("user/delete", deletion.DeletionView.as_view()),
    path("user/export", transfer.ExportView.as_view()),
    path("user/import", transfer.ImportView.as_view()),
    path("user/import/validate", transfer.ImportValidationView.as_view()),
    path("user/password", profile.PasswordView.as_view()),
    *preference_views(),
    path("user/sessions", sessions.SessionListView.as_view()),
    path("user/sessions/<str:session_id>", sessions.SessionView.as_view()),
    path("user/mfa/totp", second_factor.TotpView.as_view()),
    path("user/mfa/totp/confirm", second_factor.TotpConfirmView.as_view()),
    path("user/mfa/recovery-codes", second_factor.RecoveryCodesView.as_view()),
    path("user/api-tokens", api_tokens.ApiTokenListView.as_view()),
    path("user/api-tokens/<str:token_id>", api_tokens.ApiTokenView.as_view()),
]
