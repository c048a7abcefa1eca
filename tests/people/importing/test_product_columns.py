"""Columns of other products that have a field here, by the whole headers of their exports."""

import pytest

from tests.client import Client
from tests.people.importing.uploads import counts, import_file, import_vcards, people_by_name, send_form, vcard

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

#: The columns of Yahoo's export, and what is proposed for each.
YAHOO = {
    "First": "name",
    "Middle": "middleName",
    "Last": "surname",
    "Nickname": "nickname",
    "Email": "email",
    "Category": "group",
    "Distribution Lists": "group",
    "Home": "phone:home",
    "Work": "phone:work",
    "Pager": "phone:pager",
    "Fax": "phone:fax",
    "Mobile": "phone:mobile",
    "Other": "phone:other",
    "Yahoo! Phone": "phone:yahoo",
    "Primary": "phone:main",
    "Alternate Email 1": "email",
    "Alternate Email 2": "email",
    "Personal Website": "url:home",
    "Business Website": "url:work",
    "Title": "jobTitle",
    "Company": "organization",
    "Work Address": "address.street:work",
    "Work City": "address.city:work",
    "Work State": "address.region:work",
    "Work County": "address.region:work",
    "Work ZIP": "address.postalCode:work",
    "Work Post Code": "address.postalCode:work",
    "Work Country": "address.country:work",
    "Home Address": "address.street:home",
    "Home Town": "address.city:home",
    "Home Country": "address.country:home",
    "Birthday": "birthday",
    "Anniversary": "anniversary",
    "Comments": "notes",
}
GERMAN = {
    "Anrede": "prefix",
    "Vorname": "name",
    "Nachname": "surname",
    "Firma": "organization",
    "Position": "jobTitle",
    "Geburtsdatum": "birthday",
    "Telefon privat": "phone:home",
    "Mobil privat": "phone:home mobile",
    "Fax privat": "phone:home fax",
    "Telefon geschäftlich": "phone:work",
    "Mobil geschäftlich": "phone:work mobile",
    "Fax (geschäftlich)": "phone:work fax",
    "Tel. Mobil Privat": "phone:home mobile",
    "Telefon beruflich": "phone:work",
    "Rufnummer mobil": "phone:mobile",
    "Mobilfunknummer": "phone:mobile",
    "E-Mail privat": "email:home",
    "Straße privat": "address.street:home",
    "PLZ privat": "address.postalCode:home",
    "Ort privat": "address.city:home",
    "Land privat": "address.country:home",
    "Internet privat": "url:home",
    "Homepage": "url",
    "Bemerkungen": "notes",
}
SPEEDPORT = {
    "Name": "surname",
    "Vorname": "name",
    "Strasse, Nr.": "address.street",
    "PLZ": "address.postalCode",
    "Ort": "address.city",
    "E-Mail": "email",
    "Fax Nummer": "phone:fax",
}
OTHERS = {
    "Vorname": "name",
    "Straße und Hausnummer": "address.street",
    "Straße/Hausnr.": "address.street",
    "Phone No": "phone",
    "Pager number": "phone:pager",
    "Work Pager": "phone:work pager",
    "Portable privé": "phone:home mobile",
    "Móvil personal": "phone:home mobile",
}


@pytest.mark.parametrize("columns", [YAHOO, GERMAN, SPEEDPORT, OTHERS], ids=["yahoo", "web.de", "speedport", "others"])
def test_columns_of_other_products_have_their_fields(api: Client, columns: dict[str, str]) -> None:
    header = ",".join(f'"{name}"' for name in columns)
    inspected = send_form(api, "/api/import/csv/inspect", f"{header}\n{',' * (len(columns) - 1)}x\n").json()
    assert {column["name"]: column["proposal"] for column in inspected["columns"]} == columns


def test_numbers_of_yahoo_arrive(api: Client) -> None:
    data = "First,Last,Email,Home,Work,Other\nAna,Tabe,ana@example.org,030 123456,030 123457,030 123458\n"
    assert counts(import_file(api, "csv", data)) == (1, 0, 0, 0)
    numbers = people_by_name(api)["Ana"]["phoneNumbers"]
    assert [(entry["type"], entry["number"]) for entry in numbers] == [
        ("home", "030 123456"),
        ("work", "030 123457"),
        ("other", "030 123458"),
    ]


def test_a_column_named_by_a_type_alone_has_what_its_values_are(api: Client) -> None:
    data = (
        "Vorname,Privat,Geschäftlich,Nummer 1,Weitere,Andere\n"
        "Ana,030 1234567,ana@example.org,0170 1112233,www.example.org,ja\n"
        "Ben,,,,,nein\n"
    )
    columns = send_form(api, "/api/import/csv/inspect", data).json()["columns"]
    assert [column["proposal"] for column in columns] == [
        "name",
        "phone:home",
        "email:work",
        "phone",
        "url:other",
        "ignore",
    ]


def test_the_job_title_of_french_outlook(api: Client) -> None:
    header = (
        "Titre,Prénom,Deuxième prénom,Nom,Suffixe,Société,Service,Fonction,Rue (bureau),Ville (bureau),"
        "Téléphone (bureau),Tél. mobile,Adresse de messagerie"
    )
    row = "M.,Ana,,Tabe,,Exemple,Ventes,Directrice,,,,,ana@example.org"
    for source in ("csv", "outlook"):
        import_file(api, source, f"{header}\n{row}\n".replace("Ana", source.title()))
        person = people_by_name(api)[source.title()]
        assert (person["jobTitle"], person["prefix"]) == ("Directrice", "M.")


def test_a_column_that_outlook_does_not_have_is_known_by_its_name(api: Client) -> None:
    header = (
        "First Name,Middle Name,Last Name,Company,Department,Job Title,Home City,Home Street,Mobile Phone,Geburtsdatum"
    )
    data = f"{header},E-mail Address\nAna,,Tabe,,,,,,,24.12.1980,ana@example.org\n"
    assert import_file(api, "csv", data)["results"][0].get("reason") is None
    assert people_by_name(api)["Ana"]["importantDates"][0]["date"][:10] == "1980-12-24"


def test_groups_of_google_itself_in_vcards_make_no_group(api: Client) -> None:
    receipt = import_vcards(
        api,
        vcard("FN:Ana Tabe", "N:Tabe;Ana;;;", "CATEGORIES:myContacts,starred,Choir")
        + vcard("FN:Ben Tabe", "N:Tabe;Ben;;;", "CATEGORIES:myContacts")
        + vcard("FN:Cleo Tabe", "N:Tabe;Cleo;;;", "CATEGORIES:Starred,My contacts"),
    )
    assert counts(receipt) == (3, 0, 0, 0)
    people = people_by_name(api)
    groups = {name: sorted(group["name"] for group in person["groups"]) for name, person in people.items()}
    assert groups == {"Ana": ["Choir"], "Ben": [], "Cleo": ["My contacts", "Starred"]}
    assert [people[name]["favourite"] for name in ("Ana", "Ben", "Cleo")] == [True, False, False]
    repeated = vcard("FN:Ana Tabe", "N:Tabe;Ana;;;", "CATEGORIES:myContacts,starred,Choir")
    assert counts(import_vcards(api, repeated)) == (0, 0, 1, 0)
    assert {group["name"] for group in api.ok("GET", "/api/groups")["groups"]} == {"Choir", "My contacts", "Starred"}
