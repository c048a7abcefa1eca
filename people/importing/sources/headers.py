"""The names of columns in the six languages of the service, and the headers of Outlook and Thunderbird.

The words are in lower case, without accents, only letters and digits. The columns of the two products are in
`outlook_columns.txt` and `thunderbird_columns.txt`; docs/imports.md says where they are from.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from contacts_project.kernel.text_forms import normal_form

# By the field of a mapping; `full` is a full name. A word that is listed twice belongs to the later field.
_FIELDS = {
    "name": "firstname givenname forename vorname prenom nombre nombredepila fornavn first given 名 名前",
    "surname": "lastname surname familyname nachname familienname nomdefamille apellido apellidos apellido1 etternavn"
    " last family 姓 苗字",
    "full": "name fullname contactname contact nom nomcomplet nombrecompleto vollstandigername fulltnavn navn 氏名",
    "display": "displayname anzeigename nomaafficher nombremostrado visningsnavn 表示名",
    "middleName": "middlename middle additionalname zweitername deuxiemeprenom segundonombre mellomnavn",
    "secondLastName": "secondlastname segundoapellido apellido2 apellidomaterno",
    "nickname": "nickname nick spitzname surnom apodo kallenavn alias あだ名 ニックネーム",
    "prefix": "prefix nameprefix honorificprefix salutation anrede titel civilite tratamiento 敬称",
    "suffix": "suffix namesuffix honorificsuffix namenszusatz suffixe sufijo",
    "organization": "company organization organisation organizationname firma unternehmen societe entreprise empresa"
    " organizacion bedrift selskap employer 会社 会社名 組織",
    "jobTitle": "jobtitle title position role job beruf stelle poste fonction cargo puesto stilling tittel occupation"
    " 役職",
    "gender": "gender sex geschlecht genre sexe genero sexo kjonn 性別",
    "notes": "notes note comment comments remarks notiz notizen bemerkung bemerkungen anmerkung remarques notas nota"
    " notater notat description メモ 備考",
    "birthday": "birthday birthdate dateofbirth dob born geburtstag geburtsdatum geb gebdatum anniversairenaissance"
    " naissance datedenaissance cumpleanos fechadenacimiento fodselsdag fodselsdato bursdag 誕生日 生年月日",
    "birthday:year": "birthyear yearofbirth geburtsjahr anneedenaissance anodenacimiento fodselsar 誕生年",
    "birthday:month": "birthmonth monthofbirth geburtsmonat moisdenaissance mesdenacimiento fodselsmaned 誕生月",
    "birthday:day": "dayofbirth jourdenaissance diadenacimiento",
    "anniversary": "anniversary weddinganniversary hochzeitstag jahrestag aniversario bryllupsdag 記念日",
    "lastContact": "lastcontact lastcontacted letzterkontakt",
    "group": "group groups label labels tag tags category categories groupmembership gruppe gruppen kategorie"
    " kategorien schlagworte groupe groupes grupo grupos categoria categorias gruppe grupper kategorier グループ",
    "phone": "phone phonenumber telephone tel telefon telefonnummer rufnummer numerodetelephone telefono telefonnr"
    " telephonenumber festnetz festnetznummer landline 電話 電話番号",
    "email": "email emailaddress mail mailaddress emailadresse mailadresse adresseemail courriel correo"
    " correoelectronico epost epostadresse メール メールアドレス",
    "url": "url website web webpage homepage webseite internet siteweb sitioweb nettsted link linkedin ウェブサイト",
    "address.street": "street address streetaddress address1 addressline1 strasse strassenr strassehausnr"
    " strassehausnummer strasseundnr strasseundhausnummer strasseundhausnr adresse anschrift rue rueetnumero"
    " numeroetrue direccion calle calleynumero gate gateadresse 住所 番地",
    "address.city": "city town locality ort stadt wohnort ville ciudad localidad poblacion by poststed 市区町村",
    "address.region": "state region province county bundesland provinz departement provincia estado fylke 都道府県",
    "address.postalCode": "zip zipcode postalcode postcode plz postleitzahl codepostal codigopostal cp postnummer"
    " postnr 郵便番号",
    "address.country": "country land countryregion pays pais 国",
}
FIELD_OF = {word: field for field, words in _FIELDS.items() for word in words.split()}
# The types that are told by a word before or behind: Home Phone, Telefon (privat), work_email.
_KINDS = {
    "home": "home private privat personal personnel perso prive privee maison domicile casa particular privado hjem"
    " hjemme 自宅",
    "work": "work business office geschaftlich geschaft arbeit dienstlich beruflich beruf buro professionnel pro bureau"
    " travail trabajo oficina arbeid jobb firma 勤務先 会社",
    "mobile": "mobile cell mobil handy handynummer mobilnummer mobilfunk mobilfunknummer mobiltelefon mobilephone"
    " cellphone portable movil celular gsm natel 携帯 携帯電話",
    "fax": "fax telefax telefaks telecopie",
    "pager": "pager buscapersonas personsoker",
    "": "number nummer no nr num numero primary main secondary alternate primar primare sekundar sekundare principal"
    " principale secondaire secundario secundaria",
    "other": "other andere weitere autre otro otra annen その他",
}
KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}

_WORD = re.compile(r"[^\W_]+")
# A header is one of a product if most of its columns are, and so many that it is no table of somebody's own.
_MIN_COLUMNS = 10
_MIN_SHARE = 0.8
_NO_TARGET = "-"
# For a column name without accents and signs, the columns that have it: French Outlook has two called `Titre`.
_Names = dict[str, list[str]]


def split_name(name: str) -> list[str]:
    """The words of a column name, as they are in these tables."""
    # "E-Mail" would be split into two words.
    words = map(_fold_word, _WORD.findall(name.replace("E-Mail", "Email").replace("e-mail", "email")))
    return [word for word in words if word]


def fold_name(name: str) -> str:
    return "".join(split_name(name))


def _fold_word(word: str) -> str:
    plain = normal_form("NFKD", word.casefold().replace("ß", "ss").replace("ø", "o"))
    return "".join(character for character in plain if not unicodedata.combining(character))


def outlook_columns(names: Sequence[str]) -> list[str] | None:
    """The names of these columns in English, unknown ones unchanged; None if this is no header of Outlook."""
    return _translate("outlook", names)


def thunderbird_targets(names: Sequence[str]) -> list[str] | None:
    """The targets of these columns, empty without one; None if this is no header of Thunderbird."""
    columns = _translate("thunderbird", names)
    if columns is None:
        return None
    return ["" if column in {_NO_TARGET, name} else column for column, name in zip(columns, names, strict=True)]


def _translate(product: str, names: Sequence[str]) -> list[str] | None:
    folded = [fold_name(name) for name in names]
    filled = sum(map(bool, folded))
    for columns_of in _read_languages(product):
        count = sum(name in columns_of for name in folded)
        if count >= _MIN_COLUMNS and count >= filled * _MIN_SHARE:
            return _take_columns(columns_of, names, folded)
    return None


def _take_columns(columns_of: _Names, names: Sequence[str], folded: Sequence[str]) -> list[str]:
    """The column of each name. Where several have the same name, they come in the order of the product."""
    seen: defaultdict[str, int] = defaultdict(int)
    columns = []
    for name, key in zip(names, folded, strict=True):
        found = columns_of.get(key)
        columns.append(found[min(seen[key], len(found) - 1)] if found else name)
        seen[key] += 1
    return columns


@cache
def _read_languages(product: str) -> list[_Names]:
    """The columns of a product by their names, for each language; each also knows the English names."""
    text = Path(__file__).with_name(f"{product}_columns.txt").read_text("utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    english: _Names = defaultdict(list)
    languages = []
    for language in range(1, len(rows[0])):
        of_language: _Names = defaultdict(list)
        for row in rows:
            for name in row[language].split(" ~ "):
                of_language[fold_name(name)].append(row[0])
        english = english or of_language
        languages.append({**english, **of_language})
    return languages
