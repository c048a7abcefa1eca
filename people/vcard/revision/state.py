"""The lines of a card under revision."""

from collections.abc import Sequence

from people.vcard.builder import LineBuilder
from people.vcard.card import Card
from people.vcard.content_lines import ContentLine
from people.vcard.readers import labels_of

#: Lines that say something about another one of their item group, and go with it.
COMPANIONS = frozenset({"X-ABLABEL", "X-ABADR", "X-APPLE-SUBLOCALITY", "X-APPLE-SUBADMINISTRATIVEAREA"})


class Revision:
    """What becomes of each line for them to say what the card says now.

    `said` is the card as its lines say it, `now` as it is; the `lines` of both are those of `lines`, in their order.
    `changed` has by the place of a line what stands there instead: nothing when it goes. `new` lines have no place.
    """

    def __init__(self, lines: Sequence[ContentLine], said: Card, now: Card, builder: LineBuilder) -> None:
        self.lines, self.said, self.now, self.builder = lines, said, now, builder
        self.changed: dict[int, list[ContentLine]] = {}
        self.new: list[ContentLine] = []
        self.labels = labels_of(lines)
        self.groups: dict[str, list[int]] = {}
        for place, line in enumerate(lines):
            if line.group:
                self.groups.setdefault(line.group.lower(), []).append(place)

    def holding(self, field: str) -> list[int]:
        """The places of the lines that say the field."""
        return [place for place, kept in enumerate(self.said.lines) if field in kept.fields]

    def label_place(self, line: ContentLine) -> int | None:
        places = self.groups.get((line.group or "").lower(), ())
        return next((place for place in places if self.lines[place].name == "X-ABLABEL"), None)

    def is_shared(self, line: ContentLine) -> bool:
        """Whether other properties than companions stand in the line's item group."""
        places = self.groups.get((line.group or "").lower(), ())
        return sum(self.lines[place].name not in COMPANIONS for place in places) > 1

    def drop_companions(self) -> None:
        """Labels and the like go with the last line of their group."""
        for places in self.groups.values():
            main = [place for place in places if self.lines[place].name not in COMPANIONS]
            if main and all(self.changed.get(place) == [] for place in main):
                self.changed.update((place, []) for place in places)

    def place_new_lines(self) -> list[ContentLine]:
        """Put each new line behind the last one of its property; returns those that there is none for."""
        last = {line.name: place for place, own in enumerate(self.lines) for line in self.changed.get(place, [own])}
        rest: list[ContentLine] = []
        follows = rest
        for line in self.new:
            if line.name != "X-ABLabel":  # a label stays with its line
                place = last.get(line.name)
                follows = rest if place is None else self.changed.setdefault(place, [self.lines[place]])
            follows.append(line)
        return rest
