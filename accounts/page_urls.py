"""Pages about the account, all below /account/."""

from django.urls import path

from accounts import pages, sign_in_page

urlpatterns = [
    path("sign-in", sign_in_page.sign_in),
    path("sign-out", sign_in_page.sign_out),
    path("verify-email", pages.verify_email_page),
    path("reset-password", pages.reset_password_page),
]
