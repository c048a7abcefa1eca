"""The relationship types that a new account starts with, labelled in its language."""

from typing import Final
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.languages import CODES
from people.extensions import RelationshipTypeSpec
from people.models import RelationshipType
from people.palette import pick_color

# Name, name of the inverse, labels in the order of CODES, which is that of settings.LANGUAGES.
DEFAULT_TYPES: Final = (
    ("PARENT", "CHILD", ("Parent", "Padre/Madre", "親", "Forelder", "Elternteil", "Parent")),
    ("CHILD", "PARENT", ("Child", "Hijo/Hija", "子ども", "Barn", "Kind", "Enfant")),
    ("SIBLING", "SIBLING", ("Sibling", "Hermano/Hermana", "きょうだい", "Søsken", "Geschwister", "Frère/Sœur")),
    ("SPOUSE", "SPOUSE", ("Spouse", "Cónyuge", "配偶者", "Ektefelle", "Ehepartner", "Conjoint")),
    ("PARTNER", "PARTNER", ("Partner", "Pareja", "パートナー", "Partner", "Partner", "Partenaire")),
    ("FRIEND", "FRIEND", ("Friend", "Amigo/Amiga", "友人", "Venn", "Freund/Freundin", "Ami/Amie")),
    ("COLLEAGUE", "COLLEAGUE", ("Colleague", "Colega", "同僚", "Kollega", "Kollege/Kollegin", "Collègue")),
    ("ACQUAINTANCE", "ACQUAINTANCE", ("Acquaintance", "Conocido", "知人", "Bekjent", "Bekannte", "Connaissance")),
    ("RELATIVE", "RELATIVE", ("Relative", "Pariente", "親戚", "Slektning", "Verwandte", "Membre de la famille")),
    ("OTHER", "OTHER", ("Other", "Otro", "その他", "Annet", "Sonstige", "Autre")),
)


def default_type(name: str, language: str) -> RelationshipTypeSpec:
    """The default type `name` and its inverse, with labels in `language`."""
    column = CODES.index(language)
    labels = {key: translations[column] for key, _, translations in DEFAULT_TYPES}
    inverse = next(inverse for key, inverse, _ in DEFAULT_TYPES if key == name)
    return RelationshipTypeSpec(name, labels[name], "" if inverse == name else inverse, labels[inverse])


def create_default_types(owner_id: UUID) -> None:
    """Create the types of a new account. Must be called inside the transaction that creates the account."""
    column = CODES.index(User.objects.values_list("language", flat=True).get(pk=owner_id))
    ids = {name: new_id() for name, _, _ in DEFAULT_TYPES}
    RelationshipType.objects.bulk_create(
        RelationshipType(
            id=ids[name],
            owner_id=owner_id,
            name=name,
            label=labels[column],
            color=pick_color(name),
            inverse_id=ids[inverse],
        )
        for name, inverse, labels in DEFAULT_TYPES
    )
