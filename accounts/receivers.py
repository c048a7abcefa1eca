"""Receivers for sign-in (by API, page or admin alike) and for queued mails."""

from uuid import UUID

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User
from accounts.services.sessions import record_session
from accounts.signals import mail_queued
from accounts.tasks import send_account_mail


@receiver(user_logged_in)
def add_session(sender: type[User] | None, request: HttpRequest, user: User, **kwargs: object) -> None:
    record_session(request=request, user=user, now=timezone.now())


@receiver(mail_queued)
def enqueue_mail(*, mail_id: UUID, **kwargs: object) -> None:
    send_account_mail.delay(str(mail_id))
