"""Background work of accounts. Each task makes one service call and may run twice."""

from uuid import UUID

from celery import shared_task
from django.dispatch import receiver
from django.utils import timezone

from accounts.services.addresses import delete_old_email_changes, remove_unopened_accounts
from accounts.services.deletion import delete_pending_files
from accounts.services.mail import send_due_mails, send_mail
from accounts.services.sessions import delete_expired_sessions
from accounts.services.sign_in import delete_unused_devices
from accounts.services.stored_responses import purge_stored_responses
from accounts.services.tokens import purge_app_codes
from accounts.signals import mail_queued
from contacts_project.kernel import rate_limits
from contacts_project.kernel.pending_messages import purge_pending


@shared_task
def send_account_mail(mail_id: str) -> None:
    send_mail(mail_id=UUID(mail_id), now=timezone.now())


@receiver(mail_queued)
def enqueue_mail(*, mail_id: UUID, **kwargs: object) -> None:
    send_account_mail.delay(str(mail_id))


@shared_task
def sweep_account_mails() -> None:
    """Every minute: send mails that a crash or an unavailable mail server left."""
    send_due_mails(now=timezone.now())


@shared_task
def sweep_accounts() -> None:
    """Once a day: delete expired sessions, devices and links, unverified accounts, and files of deleted accounts."""
    now = timezone.now()
    delete_expired_sessions(now=now)
    delete_unused_devices(now=now)
    delete_old_email_changes(now=now)
    remove_unopened_accounts(now=now)
    delete_pending_files()


@shared_task
def purge_budgets() -> None:
    """Once an hour: delete expired rate limits, stored responses and app codes, and marks of lost messages."""
    rate_limits.purge_expired(now=timezone.now())
    purge_stored_responses(now=timezone.now())
    purge_app_codes(now=timezone.now())
    purge_pending(now=timezone.now())
