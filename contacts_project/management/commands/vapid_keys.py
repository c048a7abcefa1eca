"""`manage.py vapid_keys`: prints a new key pair for browser push, as lines for .env. It changes nothing itself."""

from django.conf import settings
from django.core.management.base import BaseCommand

from notifications.channels.push import is_configured
from notifications.vapid import make_keys


class Command(BaseCommand):
    help = "Prints a fresh pair of VAPID keys as lines for .env."

    def handle(self, **options: object) -> None:
        keys = make_keys()
        self.stdout.write(f"VAPID_PUBLIC_KEY={keys.public}")
        self.stdout.write(f"VAPID_PRIVATE_KEY={keys.private}")
        self.stdout.write(f"VAPID_SUBJECT={settings.VAPID_SUBJECT or 'mailto:you@example.org'}")
        if is_configured():
            self.stderr.write("Keys are set already: with others in their place, every device has to subscribe anew.")
