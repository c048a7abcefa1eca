"""The relatives and friends that people's cards name, in RELATED (RFC 6350, 6.6.6) and Apple's X-ABRELATEDNAMES.

Each is a row of RelatedName. `type_name` is what the card's person is to the related one: on a card that names a
mother, it is CHILD. The words are those of RFC 6350, of Apple's and Google's labels, and common ones in six languages.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

from contacts_project.kernel.text_forms import fold
from people.models import RelatedName
from people.vcard import values
from people.vcard.content_lines import parse_line
from people.vcard.readers import group_labels

Lines = Iterable[Mapping[str, Any]]

_RELATED_PROPERTIES: Final = frozenset({"RELATED", "X-ABRELATEDNAMES"})
MAX_NAME: Final = 200
MAX_RELATED_PEOPLE: Final = 100
PARENT, CHILD, SIBLING, SPOUSE, PARTNER = "PARENT", "CHILD", "SIBLING", "SPOUSE", "PARTNER"
FRIEND, COLLEAGUE, ACQUAINTANCE, RELATIVE, OTHER = "FRIEND", "COLLEAGUE", "ACQUAINTANCE", "RELATIVE", "OTHER"


class CardRelation(NamedTuple):
    """A person whom a card names. `name` is a name, or `urn:uuid:` and the UID of another card."""

    name: str
    type_name: str


# Words for the related person, by the type of the card's person. In order of precedence: see `parse_related_people`.
_WORDS: Final = {
    CHILD: """
        parent, mother, father, mom, mum, dad, stepmother, stepfather, foster mother, foster father,
        padre, madre, papá, mamá, 親, 母, 父, お母さん, お父さん, forelder, mor, far, mamma, pappa,
        elternteil, mutter, vater, mama, papa, stiefmutter, stiefvater, mère, père, maman, belle-mère, beau-père
    """,
    PARENT: """
        child, son, daughter, stepson, stepdaughter, stepchild, hijo, hija, 子, 子ども, 子供, 息子, 娘,
        barn, sønn, datter, kind, sohn, tochter, enfant, fils, fille
    """,
    SIBLING: """
        sibling, brother, sister, half brother, half sister, stepbrother, stepsister, hermano, hermana,
        きょうだい, 兄弟, 姉妹, 兄, 弟, 姉, 妹, søsken, bror, søster, geschwister, bruder, schwester, frère, soeur, sœur
    """,
    SPOUSE: """
        spouse, husband, wife, cónyuge, esposo, esposa, marido, mujer, 配偶者, 夫, 妻, ektefelle, ektemann, kone,
        ehepartner, ehepartnerin, ehemann, ehefrau, mann, frau, gatte, gattin, conjoint, conjointe, époux, épouse, mari,
        femme
    """,
    PARTNER: """
        partner, domestic partner, boyfriend, girlfriend, fiancé, fiancée, sweetheart, date, pareja, novio, novia,
        パートナー, 恋人, 彼氏, 彼女, samboer, kjæreste, lebensgefährte, lebensgefährtin, partnerin, verlobter,
        verlobte, partenaire, compagnon, compagne, petit ami, petite amie
    """,
    FRIEND: "friend, amigo, amiga, 友人, 友達, venn, venninne, freund, freundin, ami, amie",
    COLLEAGUE: """
        colleague, co-worker, coworker, manager, assistant, boss, colega, jefe, jefa, asistente, 同僚, 上司, 部下,
        アシスタント, マネージャー, kollega, sjef, assistent, kollege, kollegin, chef, chefin, vorgesetzter,
        assistentin, collègue, directeur, assistante, referred by
    """,
    ACQUAINTANCE: "acquaintance, contact, met, conocido, conocida, 知人, bekjent, bekannter, bekannte, connaissance",
    RELATIVE: """
        relative, kin, family, aunt, uncle, cousin, niece, nephew, grandmother, grandfather, grandparent, grandchild,
        grandson, granddaughter, mother-in-law, father-in-law, brother-in-law, sister-in-law, son-in-law,
        daughter-in-law, pariente, familiar, tío, tía, primo, prima, sobrino, sobrina, abuelo, abuela, nieto, nieta,
        suegro, suegra, cuñado, cuñada, 親戚, おじ, おば, 叔父, 叔母, いとこ, 祖父, 祖母, 孫, 甥, 姪, slektning, tante,
        onkel, fetter, kusine, niese, nevø, bestemor, bestefar, svigermor, svigerfar, svoger, svigerinne, barnebarn,
        verwandter, verwandte, vetter, cousine, nichte, neffe, grossmutter, oma, grossvater, opa, enkel, enkelin,
        schwiegermutter, schwiegervater, schwager, schwägerin, membre de la famille, oncle, nièce, neveu, grand-mère,
        grand-père, petit-fils, petite-fille, belle-soeur, beau-frère
    """,
}
_TYPES: Final = {fold(word): kind for kind, text in _WORDS.items() for word in " ".join(text.split()).split(", ")}


def type_of_word(word: str) -> str:
    """The type of the card's person for the label `word` of the related one; OTHER for an unknown word."""
    return _TYPES.get(fold(word), OTHER)


def parse_related_people(lines: Iterable[str]) -> list[CardRelation]:
    """The related people in the unfolded lines of a card, each once, in their order.

    Web and mail addresses are skipped, and TYPE=me (RFC 6350), which is the card's own person.
    """
    texts = list(lines)
    # Parsing is slow, and most cards have no such line.
    if not any("RELATED" in text.upper() for text in texts):
        return []
    parsed = [parse_line(text) for text in texts]
    labels = group_labels(parsed)
    names: dict[CardRelation, None] = {}
    for line in parsed:
        name = values.single_line(values.text(line))[:MAX_NAME].rstrip() if line.name in _RELATED_PROPERTIES else ""
        words = [labels[line.group.lower()]] if line.group and line.group.lower() in labels else list(line.types)
        if name and "me" not in words and not _is_url(name):
            types = {type_of_word(word) for word in words}
            # The first in the order of `_WORDS`, the closest relationship: TYPE=friend,spouse is a spouse.
            names[CardRelation(name, next((kind for kind in _WORDS if kind in types), OTHER))] = None
    return list(names)[:MAX_RELATED_PEOPLE]


def _is_url(name: str) -> bool:
    scheme, colon, _ = name.partition(":")
    return bool(colon) and scheme.lower() in {"http", "https", "mailto", "tel", "data", "file"}


def related_people_on(card_lines: Lines) -> list[CardRelation]:
    """The related people on a person's card lines, in their order."""
    return parse_related_people(kept["line"] for kept in card_lines)


def replace_related_names(owner_id: UUID, people: Iterable[tuple[UUID, Lines, Lines]]) -> None:
    """Update the rows of `people`: ids, the card lines before the write, and the lines after it.

    No statement if the names are unchanged. Must be called inside the transaction that writes the lines.
    """
    new: list[RelatedName] = []
    for person_id, lines_before, lines_after in people:
        before, after = related_people_on(lines_before), related_people_on(lines_after)
        # Unchanged rows stay: their ids are the ids of suggestions that a client may hold.
        if removed := set(before).difference(after):
            rows = RelatedName.objects.filter(owner=owner_id, person=person_id, name__in={one.name for one in removed})
            keys = [pk for pk, *one in rows.values_list("pk", "name", "type_name") if CardRelation(*one) in removed]
            RelatedName.objects.filter(pk__in=keys).delete()
        new += [
            RelatedName(owner_id=owner_id, person_id=person_id, name=name, type_name=kind)
            for name, kind in after
            if (name, kind) not in before
        ]
    if new:
        RelatedName.objects.bulk_create(new)
