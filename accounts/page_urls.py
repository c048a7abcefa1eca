"""Pages that mails link to, all below /account/."""

from django.urls import path

from accounts import pages

urlpatterns = [
    path("verify-email", pages.verify_email_page),
    path("reset-password", pages.reset_password_page),
]
