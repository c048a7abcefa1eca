"""Google Contacts' CSV: the old columns (`Given Name`, `Group Membership`) and the new (`First Name`, `Labels`)."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final

from accounts.models import User
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.text_forms import fold_letters
from contacts_project.kernel.texts import define_text
from people.importing.sources.columns import filled_cells, read_values
from people.importing.sources.drafts import RecordDraft
from people.importing.sources.sheets import Sheet
from people.importing.sources.tables import CsvTable, Row, TableOptions, open_table
from people.importing.sources.targets import ENTRIES, ColumnTarget

_NOT_GOOGLE = define_text("not_google", "The columns of this file are not those of Google Contacts.")

_PHOTO_URL = define_text("photo_is_an_address", "its photo is an address on the net, which is not fetched")

_SEPARATOR = ":::"
_NUMBERED_COLUMN = re.compile(
    r"(E-mail|Phone|Address|Website|IM|Event|Relation|Custom Field|Organization) ([0-9]{1,3}) - (.+)"
)
_TEXT_COLUMNS = {
    "Given Name": "name",
    "First Name": "name",
    "Additional Name": "middle_name",
    "Middle Name": "middle_name",
    "Family Name": "surname",
    "Last Name": "surname",
    "Name Prefix": "prefix",
    "Name Suffix": "suffix",
    "Nickname": "nickname",
    "Gender": "gender",
    "Notes": "notes",
    "Organization Name": "organization",
    "Organization Title": "job_title",
    "Given Name Yomi": "phonetic_name",
    "Phonetic First Name": "phonetic_name",
    "Family Name Yomi": "phonetic_surname",
    "Phonetic Last Name": "phonetic_surname",
}
_GROUP_COLUMNS = frozenset({"Group Membership", "Labels"})
_FULL_NAME_COLUMNS = frozenset({"Name", "File As"})
_ADDRESS_KEYS = {
    "Street": "streetLine1",
    "Extended Address": "streetLine2",
    "City": "locality",
    "Region": "region",
    "Postal Code": "postalCode",
    "Country": "country",
}
_TYPE_NAMES = {"cell": "mobile", "workfax": "work fax", "homefax": "home fax"}
_OFFERED_LABELS = frozenset(
    {
        *{"home", "work", "other", "mobile", "main", "home fax", "work fax", "fax", "google voice", "pager"},
        *{"profile", "blog", "home page", "homepage", "spouse", "partner", "child", "parent", "mother", "father"},
        *{"sister", "brother", "sibling", "friend", "relative", "manager", "assistant", "reference"},
    }
)
_NAMED_BY_THE_OWNER = frozenset({"Custom Field", "Event"})
_Setter = Callable[[RecordDraft, str, dict[str, str]], None]
_BIRTHDAY, _ANNIVERSARY = "birthday", "anniversary"


def _is_date(name: str) -> bool:
    match = _NUMBERED_COLUMN.fullmatch(name)
    return name == "Birthday" or bool(match and (match[1], match[3]) == ("Event", "Value"))


class GoogleSheet(Sheet):
    """`numbered` contains the kind, number and part of each numbered column (`E-mail 1 - Value`), by its index."""

    def __init__(self, owner: User, table: CsvTable, now: dt.datetime) -> None:
        super().__init__(
            owner, table, [ColumnTarget("birthday" if _is_date(name) else "") for name in table.names], now
        )
        self.numbered = {
            index: (match[1], match[2], match[3])
            for index, name in enumerate(table.names)
            if (match := _NUMBERED_COLUMN.fullmatch(name))
        }

    def fill(self, draft: RecordDraft, row: Row) -> None:
        numbered_parts: dict[tuple[str, str], dict[str, str]] = {}
        for index, cell in filled_cells(draft, row, len(self.table.names)):
            if found := self.numbered.get(index):
                kind, number, part = found
                numbered_parts.setdefault((kind, number), {})[part] = cell
            else:
                _set_column(draft, self.table.names[index], cell)
        for (kind, _), parts in numbered_parts.items():
            label = _pop_label(parts)
            _NUMBERED_SETTERS[kind](draft, label if kind in _NAMED_BY_THE_OWNER else _type_from_label(label), parts)


def _set_column(draft: RecordDraft, name: str, cell: str) -> None:
    if name in _TEXT_COLUMNS:
        draft.set_text(_TEXT_COLUMNS[name], cell)
    elif name in _GROUP_COLUMNS:
        for label in cell.split(_SEPARATOR):
            _add_label(draft, label)
    elif name == "Birthday":
        draft.add_date(cell, kind="BIRTHDAY")
    elif name == "Name":
        draft.full_name = cell
    elif name == "Photo":
        draft.warn(_PHOTO_URL)
    elif name not in _FULL_NAME_COLUMNS:
        draft.add_custom("Department" if name == "Organization Department" else name, cell)


def _add_label(draft: RecordDraft, label: str) -> None:
    # Labels with a star are Google's own, such as My Contacts.
    name = label.strip()
    if not name.startswith("*"):
        draft.add_group(label)
    elif _key(name[1:]) in _FAVOURITE:
        draft.set_flag("favourite")


def _pop_label(parts: dict[str, str]) -> str:
    """Remove the label from the parts and return it. A star before it marks the preferred entry."""
    return (parts.pop("Type", "") or parts.pop("Label", "")).strip().removeprefix("*").strip()


def _type_from_label(label: str) -> str:
    """Types are in lower case if the label is one that Google offers; a label of the owner's stays as typed."""
    folded = label.casefold()
    return _TYPE_NAMES.get(folded, folded if folded in _OFFERED_LABELS else label)


def _split_values(draft: RecordDraft, parts: dict[str, str], field: str) -> list[str]:
    return read_values(draft, field, parts.get("Value", ""))


def _entry_setter(field: str) -> _Setter:
    """A setter of the entries of a multi-value field, by its name in a mapping."""
    name, key = ENTRIES[field]

    def add(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
        for value in _split_values(draft, parts, field):
            draft.add_entry(name, kind, **{key: value})

    return add


def _add_messengers(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
    service = parts.get("Service", "").strip()
    for value in _split_values(draft, parts, "im"):
        draft.add_entry("im_handles", kind, protocol=service or kind or "other", handle=value)


def _add_addresses(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
    """Add the addresses. The n-th values of all parts form one address; the formatted text is only a fallback."""
    split = {name: text.split(_SEPARATOR) for name, text in parts.items()}
    for number in range(max((len(values) for values in split.values()), default=0)):
        one = {name: values[number].strip() for name, values in split.items() if len(values) > number}
        address = {key: one[name] for name, key in _ADDRESS_KEYS.items() if one.get(name)}
        if box := one.get("PO Box"):
            address["streetLine2"] = ", ".join(filter(None, (address.get("streetLine2"), box)))
        draft.add_address(kind, address or {"streetLine1": one.get("Formatted", "")})


def _add_events(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
    for value in _split_values(draft, parts, "event"):
        found = draft.days.read(value) if kind.casefold() == _ANNIVERSARY else None
        if found and not found[1]:
            draft.set_day("anniversary", value)
        elif kind.casefold() in {_ANNIVERSARY, _BIRTHDAY}:
            draft.add_date(value, kind=kind.upper())
        else:
            draft.add_date(value, title=kind or "Date")


def _add_relations(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
    for value in _split_values(draft, parts, "relation"):
        draft.add_related_person(kind, value)


def _add_custom_fields(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
    for value in _split_values(draft, parts, "custom"):
        draft.add_custom(kind, value)


def _set_organization(draft: RecordDraft, kind: str, parts: dict[str, str]) -> None:
    draft.set_text("organization", parts.pop("Name", ""))
    draft.set_text("job_title", parts.pop("Title", ""))
    draft.add_custom("Department", parts.pop("Department", ""))
    for name, text in parts.items():
        draft.add_custom(f"Organization {name.lower()}", text)


_NUMBERED_SETTERS: Mapping[str, _Setter] = {
    "E-mail": _entry_setter("email"),
    "Phone": _entry_setter("phone"),
    "Website": _entry_setter("url"),
    "IM": _add_messengers,
    "Address": _add_addresses,
    "Event": _add_events,
    "Relation": _add_relations,
    "Custom Field": _add_custom_fields,
    "Organization": _set_organization,
}


def open_google(owner: User, file: BinaryIO, now: dt.datetime, options: TableOptions) -> GoogleSheet:
    """Raises FieldError if the columns are not Google's."""
    table = open_table(file, options)
    if not {"Given Name", "First Name", "Family Name", "Last Name"}.intersection(table.names):
        raise FieldError("file", _NOT_GOOGLE)
    return GoogleSheet(owner, table, now)


# `* starred` and, from older exports, `* Starred in Android`; then by language, as Google's programs call the starred.
_FAVOURITE_WORDS: Final = """
en starred|starred in android|favorites|favourites
ar مميّزة بنجمة|المميّزة بنجمة|المفضلة
bg Със звезда|Означени със звезда|Любими
ca Destacats|Destacat|Preferits
cs S hvězdičkou|Označené hvězdičkou|Oblíbené
da Stjernemarkeret|Stjernemarkerede|Favoritter
de Markiert|Mit Stern markiert|Mit Stern|Markiert in Android|Favoriten
el Με αστέρι|Αγαπημένα
es Destacados|Destacado|Con estrella|Favoritos
et Tärniga|Tähega|Lemmikud
fa ستاره‌دار|موارد دلخواه
fi Tähdelliset|Tähdellä merkityt|Tähdellä merkitty|Suosikit
fr Suivis|Favoris|Marqués d'une étoile|Avec une étoile|Suivi
he מסומנים בכוכב|מסומן בכוכב|מועדפים
hi तारांकित|पसंदीदा
hr Sa zvjezdicom|Označeno zvjezdicom|Favoriti
hu Csillaggal megjelölt|Csillagozott|Kedvencek
id Berbintang|Favorit
it Speciali|Preferiti|Con stella
ja スター付き|お気に入り
ko 별표|별표 표시됨|즐겨찾기
lt Pažymėta žvaigždute|Su žvaigždute|Mėgstamiausi
lv Ar zvaigznīti|Atzīmēti ar zvaigznīti|Izlase
ms Berbintang|Kegemaran
nb Stjernemerket|Stjernemerkede|Favoritter
nl Met ster|Favorieten
pl Oznaczone gwiazdką|Z gwiazdką|Ulubione
pt Com estrela|Marcado com estrela|Marcados com estrela|Favoritos
ro Cu stea|Marcate cu stea|Preferate
ru Помеченные|Избранное|Избранные|Отмеченные звёздочкой
sk S hviezdičkou|Označené hviezdičkou|Obľúbené
sl Z zvezdico|Označeno z zvezdico|Priljubljeni
sr Са звездицом|Означено звездицом|Омиљени
sv Stjärnmärkta|Stjärnmärkt|Favoriter
th ที่ติดดาว|ติดดาว|รายการโปรด
tr Yıldızlı|Yıldızlılar|Favoriler
uk Із зірочкою|Позначено зірочкою|Вибране
vi Có gắn dấu sao|Gắn dấu sao|Mục ưa thích
zh 已加星标|加星标|已加星號|加星號|收藏|收藏的联系人|常用聯絡人
"""


def _key(text: str) -> str:
    return fold_letters(" ".join(text.split()))


_FAVOURITE: Final = frozenset(
    _key(word) for line in _FAVOURITE_WORDS.strip().splitlines() for word in line.partition(" ")[2].split("|")
)
