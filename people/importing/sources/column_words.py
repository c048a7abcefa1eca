"""Column names in the languages of the service: lower case, without accents, only letters and digits."""

import re
import unicodedata

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
