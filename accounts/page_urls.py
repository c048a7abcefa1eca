"""Pages about the account, all below /account/."""

from django.urls import path

from accounts import oidc_pages, pages, sign_in_page

urlpatterns = [
    path("sign-in", sign_in_page.sign_in),
    path("sign-in/code", oidc_pages.ask_code),
    path("sign-out", sign_in_page.sign_out),
    path("verify-email", pages.verify_email_page),
    path("take-back", pages.take_back_page),
    path("reset-password", pages.reset_password_page),
]
