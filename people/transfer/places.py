"""The section of geocoding results, so that addresses need not be geocoded again after an import."""

from collections.abc import Iterator

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField, StrictFloatField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.geocoding.addresses import address_key
from people.models import GeocodedAddress
from people.vocabularies import GeocodeState

_NO_COORDINATES = define_text("place_without_coordinates", "A place that was found has both coordinates.")

_STATE_VALUES = list(GeocodeState.values)


class PlaceRecordSerializer(TimestampsSerializer):
    text = StrictCharField(max_length=2000)
    geocodeStatus = StrictChoiceField(_STATE_VALUES, source="state")
    latitude = StrictFloatField(min_value=-90, max_value=90, required=False, allow_null=True)
    longitude = StrictFloatField(min_value=-180, max_value=180, required=False, allow_null=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if attrs["state"] == GeocodeState.DONE and None in (attrs.get("latitude"), attrs.get("longitude")):
            raise InvalidError({"geocodeStatus": [_NO_COORDINATES]})
        return attrs


class PlaceSection(Section):
    """An existing row is found by id, else by the text of the address. Address entries of imported people use it."""

    name, order, models = "places", 45, (GeocodedAddress,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in GeocodedAddress.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "text": row.text,
                "geocodeStatus": row.state,
                "latitude": row.latitude,
                "longitude": row.longitude,
                "createdAt": row.created_at,
            }

    def serializer(self) -> PlaceRecordSerializer:
        return PlaceRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(GeocodedAddress, records)
        keys = {address_key(record.data["text"]) for record in records}
        rows = GeocodedAddress.objects.owned_by(run.owner).filter(key__in=keys)
        texts = run.index(self.name, dict(rows.values_list("key", "pk")))
        new = []
        for record in records:
            key = address_key(record.data["text"])
            if found := ids.found.get(record.source_id) or texts.get(key):
                run.skipped(record, found)
                continue
            values = {column: record.data.get(column) for column in ("text", "state", "latitude", "longitude")}
            row = GeocodedAddress(
                pk=ids.new[record.source_id],
                owner=run.owner,
                key=key,
                next_try_at=run.now,
                created_at=times_of(record.data, run.now)["created_at"],
                **values,
            )
            texts[key] = row.pk
            new.append(row)
            run.imported(record, row.pk)
        run.insert(GeocodedAddress, new)
