"""Parses dates as people and spreadsheets write them."""

import datetime as dt
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

from accounts.models import User
from accounts.vocabularies import DateFormat
from contacts_project.kernel.text_forms import normal_form
from people.vcard import UNKNOWN_YEAR
from people.vcard.values import parse_date

#: What a column of dates is said to have if its dates contradict each other, or could all be read in several ways.
AMBIGUOUS = "ambiguous"

_MAX_LENGTH = 60
_NUMERIC_DATE = re.compile(r"([0-9]{1,2})([./-]) ?([0-9]{1,2})(?:\2 ?([0-9]{4}|[0-9]{2}))?\.?")
_YEAR_FIRST = re.compile(r"([0-9]{4})([./-]) ?([0-9]{1,2})\2 ?([0-9]{1,2})\.?")
# Japanese, Chinese and Korean, also with the year of a Japanese era.
_EAST_ASIAN_DATE = re.compile(
    r"(?:(明治|大正|昭和|平成|令和)?([0-9]{1,4}|元)[年년] ?)?([0-9]{1,2})[月월] ?([0-9]{1,2})[日일号]"
    r"(?: ?\(.{1,4}\))?"  # the weekday
)
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_TIME = re.compile(
    r"[T ,]+[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[ap]\.?m\.?)?(?: ?(?:Z|UTC|[+-][0-9:]{4,6}))?",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+")
# Months in the six languages of the service. They are also recognized by their first letters (_find_month).
_MONTHS = (
    "january januar jänner janvier enero",
    "february februar feber février febrero",
    "march märz maerz mars marzo",
    "april avril abril",
    "may mai mayo",
    "june juni juin junio",
    "july juli juillet julio",
    "august août agosto",
    "september septembre septiembre setiembre",
    "october oktober octobre octubre",
    "november novembre noviembre",
    "december dezember décembre diciembre desember",
)
# Monday to Sunday. Also recognized by their first letters, two at least; other abbreviations stand behind a slash.
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "mandag tirsdag onsdag torsdag fredag lørdag søndag",
    "月曜日/月 火曜日/火 水曜日/水 木曜日/木 金曜日/金 土曜日/土 日曜日/日",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda-feira/segunda terça-feira/terça quarta-feira/quarta quinta-feira/quinta sexta-feira/sexta sábado domingo",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "måndag tisdag onsdag torsdag fredag lördag söndag",
    "maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai",
    "poniedziałek/pn wtorek środa/śr czwartek piątek/pt sobota niedziela/ndz/nd",
    "pondělí úterý středa čtvrtek pátek sobota neděle",
    "pondelok utorok streda štvrtok piatok sobota nedeľa",
    "hétfő kedd szerda csütörtök péntek szombat vasárnap",
    "luni marți miercuri joi vineri sâmbătă duminică",
    "ponedjeljak utorak srijeda četvrtak petak subota nedjelja",
    "понедельник/пн вторник/вт среда/ср четверг/чт пятница/пт суббота/сб воскресенье/вс",
    "понеділок вівторок середа четвер п’ятниця/пʼятниця субота неділя/нд",
    "pazartesi/pzt salı çarşamba perşembe cuma cumartesi/cmt pazar",
    "δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή",
    "星期一/周一/週一 星期二/周二/週二 星期三/周三/週三 星期四/周四/週四 星期五/周五 星期六/周六 星期日/周日",
    "월요일/월 화요일/화 수요일/수 목요일/목 금요일/금 토요일/토 일요일/일",
)
_WEEKDAY_WORD = r"[^\W\d_]+(?:[-’'ʼ][^\W\d_]+)*"
_ARTICLE = r"(?:(?:am|den|der|the|le|el|il)\s+)?"
_LEADING_WEEKDAY = re.compile(rf"[(（]?{_ARTICLE}({_WEEKDAY_WORD})[.)）]*[\s,،、]*{_ARTICLE}(?=[0-9])", re.IGNORECASE)
_TRAILING_WEEKDAY = re.compile(rf"[\s,،、]*[(（\s,]({_WEEKDAY_WORD})[.)）]*")
# Endings of ordinal numbers, and words between the parts of a date.
_FILLERS = {
    *("st", "nd", "rd", "th", "er", "re", "ere", "eme", "e", "º", "ª", "o", "a"),
    *("of", "the", "de", "del", "der", "den", "le", "la", "el"),
}


def _fold(word: str) -> str:
    plain = normal_form("NFD", word.casefold().replace("ø", "o"))
    return "".join(character for character in plain if not unicodedata.combining(character))


_MONTH_NAMES = [(number, _fold(name)) for number, names in enumerate(_MONTHS, 1) for name in names.split()]
_WEEKDAY_NAMES = [
    (number, _fold(name)) for names in _WEEKDAYS for number, day in enumerate(names.split()) for name in day.split("/")
]


def _find_month(word: str) -> int | None:
    """The month whose name is `word`, or begins with it if it is the only one: at least three letters."""
    found = {number for number, name in _MONTH_NAMES if name == word}
    if not found and len(word) >= 3:
        found = {number for number, name in _MONTH_NAMES if name.startswith(word)}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=256)
def _find_weekdays(word: str) -> frozenset[int]:
    """The weekdays, from Monday as 0, whose name in some language is `word` or begins with it (two letters)."""
    if word == "ca":  # circa, not çarşamba
        return frozenset()
    return frozenset(
        number for number, name in _WEEKDAY_NAMES if name == word or (len(word) >= 2 and name.startswith(word))
    )


@dataclass(frozen=True, slots=True)
class _Written:
    """A date as it is written: its year, month and day by each order in which it is a day.

    `usual` is the order that the way of writing tells, such as a month in words, a year in front or dots (day first).
    It is None if other dates must decide.
    """

    parts: Mapping[str, tuple[str | None, int, int]]
    usual: str | None

    @property
    def orders(self) -> list[str]:
        """The orders to choose from: a year of two digits is in front only if nothing else is possible."""
        return [order for order in (DateFormat.DMY, DateFormat.MDY) if order in self.parts] or list(self.parts)

    @property
    def is_open(self) -> bool:
        """Whether the orders to choose from give different days."""
        return self.usual is None and len({self.parts[order][1:] for order in self.orders}) > 1


def _parse(text: str) -> _Written | None:
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        return None
    text = normal_form("NFKC", text)
    return _parse_with_weekday(text) or _parse_day(text)


def _parse_with_weekday(text: str) -> _Written | None:
    """Parse a day in digits with a weekday in front or behind, in no language in particular: `Fr, 26.11.1971`.

    Of two orders that give a day, the weekday says which is meant: Friday, 11/12/1971 is in November.
    """
    if match := _LEADING_WEEKDAY.match(text):
        rest = text[match.end() :]
    elif (match := _TRAILING_WEEKDAY.search(text)) and match.end() == len(text):
        rest = text[: match.start()]
    else:
        return None
    weekdays = _find_weekdays(_fold(match[1]))
    written = _parse_day(rest, in_digits=True) if weekdays else None
    if written is None:
        return None
    matching = {order: day for order, day in written.parts.items() if _falls_on(day, weekdays)}
    return replace(written, parts=matching) if matching and written.is_open else written


def _falls_on(day: tuple[str | None, int, int], weekdays: frozenset[int]) -> bool:
    year, month, day_of_month = day
    with suppress(ValueError):
        return len(year or "") == 4 and dt.date(int(year or 0), month, day_of_month).weekday() in weekdays
    return False


def _parse_day(text: str, *, in_digits: bool = False) -> _Written | None:
    if found := parse_date(text):
        day, is_yearless = found
        return _Written(
            {DateFormat.YMD: (None if is_yearless else f"{day.year:04}", day.month, day.day)}, DateFormat.YMD
        )
    if (time := _TIME.search(text)) and time.end() == len(text):
        text = text[: time.start()]
    if match := _YEAR_FIRST.fullmatch(text):
        return _build({DateFormat.YMD: (match[1], match[3], match[4])}, DateFormat.YMD)
    if match := _NUMERIC_DATE.fullmatch(text):
        return _parse_numbers(*match.groups())
    if match := _EAST_ASIAN_DATE.fullmatch(text):
        era, year, month, day_of_month = match.groups()
        if era:
            year = str(_ERAS[era] + (1 if year == "元" else int(year)))
        return _build({DateFormat.YMD: (year, month, day_of_month)}, DateFormat.YMD)
    return None if in_digits else _parse_words(text)


def _parse_numbers(first: str, mark: str, second: str, third: str | None) -> _Written | None:
    parts: dict[str, tuple[str | None, str, str]] = {
        DateFormat.DMY: (third, second, first),
        DateFormat.MDY: (third, first, second),
    }
    if third and len(third) == 2:
        parts[DateFormat.YMD] = (f"{first:0>2}", second, third)
    return _build(parts, DateFormat.DMY if mark == "." else None)


def _parse_words(text: str) -> _Written | None:
    """Parse a date with the month as a word: `24th December 1980`, `miércoles, 24 de dic. de 1980`."""
    tokens = [_fold(token) for token in _TOKEN.findall(text)]
    numbers = [token for token in tokens if token.isdigit()]
    words = [token for token in tokens if not token.isdigit() and token not in _FILLERS]
    if len(words) == 2 and tokens[0] == words[0] and _find_weekdays(words[0]):
        del words[0]
    month = _find_month(words[0]) if len(words) == 1 else None
    if month is None or not 1 <= len(numbers) <= 2:
        return None
    year = numbers[1] if len(numbers) == 2 else None
    if len(numbers[0]) == 4 and year:
        return _build({DateFormat.YMD: (numbers[0], str(month), year)}, DateFormat.YMD)
    order = DateFormat.MDY if tokens.index(words[0]) < tokens.index(numbers[0]) else DateFormat.DMY
    return _build({order: (year, str(month), numbers[0])}, order)


def _build(parts: Mapping[str, tuple[str | None, str, str]], usual: str | None) -> _Written | None:
    """Keep the orders that give a day of the calendar; None if there is none."""
    days = {
        order: (year, int(month), int(day))
        for order, (year, month, day) in parts.items()
        if (year is None or len(year) in {2, 4}) and _is_day(month, day)
    }
    return _Written(days, usual if usual in days else None) if days else None


def _is_day(month: str, day: str) -> bool:
    try:
        dt.date(UNKNOWN_YEAR, int(month), int(day[:3]))
    except ValueError:
        return False
    return True


def is_day(text: str) -> bool:
    """Whether the text is a date in some order."""
    return _parse(text) is not None


@dataclass(frozen=True, slots=True)
class DayReader:
    """Parses dates. With `is_month_first`, 3/4 is the fourth of March. Two-digit years end at `this_year`.

    `order` is the one that the client named: it applies to all dates that can be read so. With `is_uncertain`, a date
    that could be read in two ways is read as `is_month_first` says, and `is_guess` tells so.
    """

    is_month_first: bool
    this_year: int
    order: str = ""
    is_uncertain: bool = False

    def read(self, text: str) -> tuple[dt.date, bool] | None:
        """Return the date, and whether its year is unknown (it is 1604 then); None if the text is no date."""
        written = _parse(text)
        if written is None:
            return None
        preferred = (self.order, written.usual or "", DateFormat.MDY if self.is_month_first else DateFormat.DMY)
        order = next((order for order in preferred if order in written.parts), written.orders[0])
        return self._build_date(*written.parts[order])

    def is_guess(self, text: str) -> bool:
        """Whether another day could be meant as well."""
        written = _parse(text) if self.is_uncertain or self.order else None
        return written is not None and written.is_open and self.order not in written.parts

    def _build_date(self, year: str | None, month: int, day: int) -> tuple[dt.date, bool] | None:
        try:
            if year is None:
                return dt.date(UNKNOWN_YEAR, month, day), True
            full_year = int(year)
            if len(year) == 2:  # the latest such year that is not in the future
                full_year += self.this_year // 100 * 100
                full_year -= 100 if full_year > self.this_year else 0
            return (dt.date(full_year, month, day), False) if full_year >= 1000 else None
        except ValueError:
            return None


@dataclass(slots=True)
class DateColumn:
    """Counts what the dates of a column tell about their order."""

    decided: Counter[str] = field(default_factory=Counter)
    """Dates such as 25/12/1980, which can be read in one order only: others of the column are written like them."""
    usual: Counter[str] = field(default_factory=Counter)
    open: int = 0

    def add(self, text: str) -> None:
        written = _parse(text)
        if written is None:
            return
        if written.usual:
            self.usual[written.usual] += 1
        elif written.is_open:
            self.open += 1
        elif len(written.orders) == 1:
            self.decided[written.orders[0]] += 1

    def merge(self, other: "DateColumn") -> None:
        self.decided += other.decided
        self.usual += other.usual
        self.open += other.open

    @property
    def order(self) -> str:
        """The order of the dates, or AMBIGUOUS."""
        if len(self.decided) > 1 or (self.open and not self.decided):
            return AMBIGUOUS
        return next(iter((self.decided or Counter(dict(self.usual.most_common(1)))).keys()), AMBIGUOUS)


class DateColumns:
    """The order of the dates of a file, by column: from one pass over all its rows.

    A column in which no date decides is written like the others, if those agree: one program wrote them all.
    """

    def __init__(self, owner: User, this_year: int, order: str = "") -> None:
        self._is_month_first = owner.date_format == DateFormat.MDY or (
            owner.date_format == DateFormat.YMD and owner.language == "en"
        )
        self._this_year, self._order = this_year, order
        self._columns: dict[int, DateColumn] = {}
        self._joined = DateColumn()

    def read_rows(self, rows: Iterable[Iterator[tuple[int, str]]]) -> None:
        """Count the dates in `rows`, each of which yields the number and the text of its cells with dates."""
        for row in rows:
            for index, text in row:
                self._columns.setdefault(index, DateColumn()).add(text)
        for column in self._columns.values():
            self._joined.merge(column)

    def order(self, index: int | None) -> str:
        """The order of a column, or AMBIGUOUS; of all columns together for None."""
        if self._order:
            return self._order
        column = self._find(index)
        if column.order != AMBIGUOUS or column.decided:
            return column.order
        return self._joined.order if self._joined.decided or not column.open else AMBIGUOUS

    def reader(self, index: int | None = None) -> DayReader:
        """The reader of a column, or of a date that stands in none."""
        order = self.order(index)
        column = self._find(index)
        by_majority = column.decided[DateFormat.MDY] - column.decided[DateFormat.DMY]
        is_month_first = by_majority > 0 if by_majority else self._is_month_first
        if order in {DateFormat.MDY, DateFormat.DMY}:
            is_month_first = order == DateFormat.MDY
        return DayReader(is_month_first, self._this_year, self._order, is_uncertain=order == AMBIGUOUS)

    def _find(self, index: int | None) -> DateColumn:
        return self._joined if index is None else self._columns.get(index, DateColumn())
