"""The letters beyond ASCII by language, to tell which encoding of a table gives readable names.

A library that detects encodings knows running text. A table has few letters, and they are in names: among several
encodings, the one that yields letters of one language is more likely than one that yields letters of several, signs,
or letters of two scripts in one word.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

_ALPHABETS = {
    "de": "äöüß",
    "fr": "àâçéèêëîïôœùûüÿæ",
    "es": "áéíóúüñ",
    "nb": "æøåéòôö",
    "sv": "åäöé",
    "pt": "ãáâàçéêíóôõú",
    "it": "àèéìòóù",
    "is": "áðéíóúýþæö",
    "et": "äõöüšž",
    "tr": "çğıöşüâîİ",
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "sk": "áäčďéíľĺňóôŕšťúýž",
    "hu": "áéíóöőúüű",
    "ro": "ăâîșțşţ",
    "hr": "čćđšž",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "ru": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "uk": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "sr": "абвгдђежзијклљмнњопрстћуфхцчџш",
    "el": "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",
    "he": "אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    "ar": "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئىة",
    "fa": "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیءآأؤئيكة",
    "th": "".join(map(chr, (*range(0xE01, 0xE3B), *range(0xE40, 0xE4F)))),
}
_LATIN = frozenset(
    ["de", "fr", "es", "nb", "sv", "pt", "it", "is", "et", "tr", "pl", "cs", "sk", "hu", "ro", "hr", "lt", "lv"]
)
# Characters that are frequent in the names of people and places. The encodings of Japanese and Chinese share nearly all
# byte pairs, so that only the frequency of what they decode to tells them apart.
_FREQUENT = {
    "ja": "田山川本村中井原藤野木島崎池谷沢石上下松小大林高橋佐伊加吉東西南北市区町県京都府道一二三郎子美太和真由恵"
    "明健智裕直浩雄正千代幸英久",
    "zh": "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭市省北上海京广州南西东江山"
    "区路大小国华明文建平军英丽红秀",
    "zh-hant": "王陳林黃張李吳劉蔡楊許鄭謝郭洪邱曾廖賴徐周葉蘇莊呂江何羅高蕭潘市縣區路臺台北中南東西新竹雅怡君美淑志家"
    "俊宗婷玲惠文明大小香港",
}
_WORD = re.compile(r'[^ \r\n,;|\t"]+')
# The cost of a character is the negative logarithm of its probability: that of one letter of an alphabet in which all
# are equally likely. The constants were fitted to the tables of docs/imports.md.
_STRANGE = 9.0  # a character that the language does not have
_FREQUENT_CHARACTER = 5.0
_ASCII_LETTER = 2.5  # in a word with other letters
_CAPITAL_INSIDE = 5.0  # a capital behind a small letter


def _standard_rows(codec: str, first: int, last: int, ranges: Sequence[tuple[int, int]] = ((0xA1, 0xFE),)) -> str:
    """The characters of these rows of a double-byte standard: its everyday characters come before the rare ones."""
    pairs = (
        bytes((row, cell)) for row in range(first, last + 1) for low, high in ranges for cell in range(low, high + 1)
    )
    return "".join(pair.decode(codec, "ignore") for pair in pairs)


def _build_letters() -> Iterator[tuple[str, frozenset[str]]]:
    for language, letters in _ALPHABETS.items():
        yield language, frozenset(letters + letters.upper())
    kana = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB)))) + "ー々・"
    yield "ja", frozenset(kana + _standard_rows("euc_jp", 0xB0, 0xCF))
    yield "zh", frozenset(_standard_rows("gb2312", 0xB0, 0xD7))
    yield "zh-hant", frozenset(_standard_rows("big5", 0xA4, 0xC6, ((0x40, 0x7E), (0xA1, 0xFE))))
    yield "ko", frozenset(_standard_rows("euc_kr", 0xB0, 0xC8))


_LETTERS = dict(_build_letters())


def cost_of_letters(text: str, languages: tuple[str, ...]) -> float:
    """How unlikely the words with letters beyond ASCII are in the best fitting of these languages; 0 for none."""
    characters: Counter[str] = Counter()
    cost = 0.0
    in_word = _ASCII_LETTER if _LATIN.issuperset(languages) else _STRANGE
    for word in set(_WORD.findall(text)):  # a word that is repeated in every row says no more than once
        if not word.isascii():
            characters.update(word)
            cost += _CAPITAL_INSIDE * sum(one.islower() and other.isupper() for one, other in pairwise(word))
    for character in [character for character in characters if character.isascii()]:
        count = characters.pop(character)
        if character.isalpha():
            cost += count * in_word
        elif character not in "'-.()/&0123456789":
            cost += count * _STRANGE
    alphabets = [*((_LETTERS[language], _FREQUENT.get(language, "")) for language in languages), (_join(languages), "")]
    return cost + min(_cost_in_alphabet(characters, letters, frequent) for letters, frequent in alphabets)


@cache
def _join(languages: tuple[str, ...]) -> frozenset[str]:
    """The letters of all these languages: a table may have names of several."""
    return frozenset().union(*(_LETTERS[language] for language in languages))


def _cost_in_alphabet(characters: Counter[str], letters: frozenset[str], frequent: str) -> float:
    cost = math.log(len(letters))
    return sum(
        count * (_FREQUENT_CHARACTER if character in frequent else cost if character in letters else _STRANGE)
        for character, count in characters.items()
    )
