"""Pages about the account, all below /account/."""

from django.urls import path

from accounts.pages import mailed_links, sign_in

urlpatterns = [
    path("sign-in", sign_in.sign_in),
    path("sign-in/code", sign_in.ask_code),
    path("sign-out", sign_in.sign_out),
    path("verify-email", mailed_links.verify_email_page),
    path("take-back", mailed_links.take_back_page),
    path("reset-password", mailed_links.reset_password_page),
]
