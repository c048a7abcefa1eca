"""`manage.py geocode`: looks up the waiting addresses, as the worker does."""

from django.conf import settings

from contacts_project.management.service_command import ServiceCommand
from people.geocoding.geocoder import GeocodingRun, geocode_due


class Command(ServiceCommand):
    help = (
        "Look up all waiting addresses within the provider's rate limit. May be run at any time, even beside a worker."
    )

    def handle(self, **options: object) -> None:
        if not settings.GEOCODER_URL:
            self.stdout.write("GEOCODER_URL is not set: no address leaves this instance.")
        counts = geocode_due(GeocodingRun())
        self.stdout.write(f"{counts['done']} found, {counts['failed']} not found, {counts['later']} to be tried again")
