"""Notification destinations in the document of an account (accounts.transfer). Their secrets are not."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from accounts.models.user import Plan
from accounts.transfer.run import ImportRun, Item
from accounts.transfer.sections import Section, leave_out, register_section
from accounts.transfer.times import Times, times_of
from contacts_project.kernel.api.fields import StrictBooleanField, StrictCharField, StrictChoiceField
from notifications.models import Destination, DestinationType
from notifications.models.destination import MAX_URL_LENGTH, url_key
from notifications.services.destinations import MAX_DESTINATIONS, UrlRefusedError, check_url


class DestinationShape(Times):
    type = StrictChoiceField(list(DestinationType.values))
    label = StrictCharField(max_length=60)  # type: ignore[assignment]  # hides Field.label, which no field needs
    url = StrictCharField(max_length=MAX_URL_LENGTH)
    serverUrl = StrictCharField(max_length=MAX_URL_LENGTH, required=False, allow_null=True)
    enabled = StrictBooleanField(required=False, default=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            check_url(DestinationType(attrs["type"]), attrs["url"])
        except UrlRefusedError as error:
            raise serializers.ValidationError({"url": [error.message]}) from None
        server, url = attrs.get("serverUrl"), attrs["url"]
        if server and urlsplit(server)[:2] != urlsplit(url)[:2]:
            raise serializers.ValidationError({"serverUrl": ["This is not where the topic is."]})
        return attrs


class DestinationSection(Section):
    """Found again by id, else by URL. A webhook comes without its signing secret: rotateSecret makes and shows one."""

    name, order, models = "notificationDestinations", 80, (Destination,)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        for row in Destination.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "type": row.type,
                "label": row.label,
                "url": row.url,
                "serverUrl": row.server_url or None,
                "enabled": row.enabled,
                "createdAt": row.created_at,
            }

    def shape(self) -> DestinationShape:
        return DestinationShape()

    def write(self, run: ImportRun, items: list[Item]) -> None:
        ids = run.known(Destination, items)
        rows = Destination.objects.owned_by(run.owner)
        by_url = run.index(self.name, dict(rows.values_list("url_key", "pk")))
        new = []
        for item in items:
            if found := ids.found.get(item.source_id) or by_url.get(url_key(item.data["url"])):
                run.skipped(item, found)
            elif len(by_url) >= MAX_DESTINATIONS:
                run.failed(item, f"An account has at most {MAX_DESTINATIONS} destinations.")
            else:
                row = _row(run, item, ids.free[item.source_id])
                if row.needs_pro and run.owner.effective_plan != Plan.PRO:
                    run.failed(item, "Webhooks need a Pro subscription.")
                    continue
                new.append(row)
                by_url[row.url_key] = row.pk
                run.imported(item, row.pk)
        run.insert(Destination, new)


def _row(run: ImportRun, item: Item, free: UUID) -> Destination:
    data = item.data
    made = times_of(data, run.now)["created_at"]
    row = Destination(
        pk=free,
        owner=run.owner,
        created_at=made,
        **{column: data[column] for column in ("type", "label", "enabled")},
    )
    row.point_to(data["url"], data.get("serverUrl") or "")
    return row


def register_transfer() -> None:
    """Register what notifications carry; once."""
    register_section(DestinationSection())
    leave_out("notifications.PushSubscription", "A browser's own, made for the keys of this instance.")
    leave_out("notifications.CalendarFeed", "Nothing but an address, whose secret no document holds.")
    leave_out("notifications.Delivery", "What this instance has sent; elsewhere nothing was.")
    leave_out("notifications.DigestSchedule", "When this instance sends next, made anew from the preferences.")
