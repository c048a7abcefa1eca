"""Admin list of the geocoder's queue. Operators see its state, never the addresses."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from contacts_project.kernel.admin import OperatorAdmin, WordFilter
from people.models import GeocodedAddress
from people.vocabularies import GeocodeState


class GeocodeStateFilter(WordFilter[GeocodedAddress]):
    title, parameter_name = "state", "state"
    words = tuple(GeocodeState.choices)

    def narrow(self, rows: QuerySet[GeocodedAddress], value: str) -> QuerySet[GeocodedAddress]:
        if value == GeocodeState.DONE:
            return rows.filter(state=value)
        # The condition of the partial index, without which the database does not use it.
        return rows.exclude(state=GeocodeState.DONE).filter(state=value)


@admin.register(GeocodedAddress)
class GeocodedAddressAdmin(OperatorAdmin):
    """The geocoder's queue, without addresses and coordinates."""

    list_display = ("id", "account", "state", "attempts", "next_try_at", "is_copied", "created_at")
    list_filter = (GeocodeStateFilter,)
    ordering = ("-id",)
    fields = readonly_fields = (*list_display, "held_until")

    def get_queryset(self, request: HttpRequest) -> QuerySet[GeocodedAddress]:
        return super().get_queryset(request).defer("text", "key", "latitude", "longitude")
