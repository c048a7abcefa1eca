"""Imports of Google's, Outlook's and LinkedIn's files, in the formats of their exports (cited in docs/imports.md)."""

import csv
import io
from collections.abc import Mapping

from people.models import Group, Person
from tests.client import Client
from tests.people.importing.uploads import counts, import_file, people_by_name

OLD_GOOGLE = {
    "Name": "Lady Ada Lovelace",
    "Given Name": "Ada",
    "Additional Name": "King",
    "Family Name": "Lovelace",
    "Name Prefix": "Lady",
    "Birthday": " --12-10",
    "Notes": "First, of them",
    "Group Membership": "Maths ::: * myContacts ::: * starred",
    "E-mail 1 - Type": "* Home",
    "E-mail 1 - Value": "ada@example.org ::: countess@example.org",
    "E-mail 2 - Type": "Work",
    "E-mail 2 - Value": "ada@engines.example",
    "IM 1 - Type": "Other",
    "IM 1 - Service": "Jabber",
    "IM 1 - Value": "ada@jabber.example",
    "Phone 1 - Type": "Mobile",
    "Phone 1 - Value": "+44 20 7946 0001",
    "Address 1 - Type": "Home",
    "Address 1 - Formatted": "12 Long Road\nLondon",
    "Address 1 - Street": "12 Long Road",
    "Address 1 - City": "London",
    "Address 1 - PO Box": "PO 7",
    "Address 1 - Postal Code": "SW1",
    "Address 1 - Country": "UK",
    "Organization 1 - Type": "",
    "Organization 1 - Name": "Engines Ltd",
    "Organization 1 - Title": "Programmer",
    "Organization 1 - Department": "Cards",
    "Relation 1 - Type": "Spouse",
    "Relation 1 - Value": "William King",
    "Website 1 - Type": "Blog",
    "Website 1 - Value": "https://ada.example/notes?a=1,2",
    "Event 1 - Type": "Anniversary",
    "Event 1 - Value": "1835-07-08",
    "Custom Field 1 - Type": "Favourite number",
    "Custom Field 1 - Value": "1",
}
NEW_GOOGLE = {
    "First Name": "Grace",
    "Middle Name": "",
    "Last Name": "Hopper",
    "Organization Name": "Navy",
    "Organization Title": "Admiral",
    "Birthday": "1906-12-09",
    "Photo": "https://lh3.example/photo",
    "Labels": "* myContacts ::: Compilers",
    "E-mail 1 - Label": "* ",
    "E-mail 1 - Value": "grace@navy.example",
    "Phone 1 - Label": "Work Fax",
    "Phone 1 - Value": "+1 555 0100 ::: +1 555 0101",
}
OUTLOOK = {
    "Title": "Dr.",
    "First Name": "Alan",
    "Middle Name": "Mathison",
    "Last Name": "Turing",
    "Suffix": "",
    "Company": "Bletchley Park",
    "Department": "Hut 8",
    "Job Title": "Cryptanalyst",
    "Business Address": "Sherwood Drive\r\nBletchley",
    "Business Street": "Sherwood Drive",
    "Business Street 2": "Hut 8",
    "Business City": "Bletchley",
    "Business Postal Code": "MK3 6EB",
    "Business Country/Region": "United Kingdom",
    "Home Street": "",
    "Other Address": "Wilmslow",
    "Assistant's Phone": "+44 1",
    "Business Fax": "+44 2",
    "Business Phone": "+44 3",
    "Mobile Phone": "+44 4",
    "Pager": "+44 5",
    "Anniversary": "0/0/00",
    "Birthday": "6/23/1912",
    "Categories": "Work;Friends",
    "E-mail Address": "alan@park.example",
    "E-mail Type": "SMTP",
    "E-mail Display Name": "Alan Turing (alan@park.example)",
    "E-mail 2 Address": "alan@home.example",
    "Gender": "Unspecified",
    "Hobby": "Running",
    "Notes": "Two\r\nlines",
    "Priority": "Normal",
    "Private": "False",
    "Sensitivity": "Normal",
    "Spouse": "",
    "User 1": "kept",
    "Web Page": "https://turing.example",
}
LINKEDIN = (
    'Notes:\n"When exporting your connection data, you may notice that some of the email addresses are missing."\n\n'
    "First Name,Last Name,URL,Email Address,Company,Position,Connected On\n"
    'Priya,Sharma,https://www.linkedin.com/in/priya,,"Stripe, Inc.",Technical Recruiter,12 Mar 2024\n'
    'Neha,,https://www.linkedin.com/in/neha,neha@example.org,,"Senior ""Platform"" Engineer",7-Feb-22\n'
    ",,,,,,\n"
)


def table(*rows: Mapping[str, str]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def test_former_format_of_google(api: Client) -> None:
    response = import_file(api, "google", table(OLD_GOOGLE))
    assert counts(response) == (1, 0, 0, 0)
    assert "reason" not in response["results"][0]
    ada = people_by_name(api)["Ada"]
    assert (ada["prefix"], ada["middleName"], ada["surname"]) == ("Lady", "King", "Lovelace")
    assert ada["displayNameOverride"] == "Lady Ada Lovelace"
    assert [(entry["type"], entry["email"]) for entry in ada["emails"]] == [
        ("home", "ada@example.org"),
        ("home", "countess@example.org"),
        ("work", "ada@engines.example"),
    ]
    assert (ada["imHandles"][0]["protocol"], ada["imHandles"][0]["handle"]) == ("Jabber", "ada@jabber.example")
    address = ada["addresses"][0]
    assert [address[key] for key in ("streetLine1", "streetLine2", "locality")] == ["12 Long Road", "PO 7", "London"]
    assert (ada["organization"], ada["jobTitle"], ada["anniversary"]) == ("Engines Ltd", "Programmer", "1835-07-08")
    assert {(entry["key"], entry["value"]) for entry in ada["customFields"]} == {
        ("Department", "Cards"),
        ("Favourite number", "1"),
    }
    assert [(day["type"], day["date"][:10]) for day in ada["importantDates"]] == [("BIRTHDAY", "1604-12-10")]
    assert [group["name"] for group in ada["groups"]] == ["Maths"]
    assert ada["urls"][0]["url"] == "https://ada.example/notes?a=1,2"
    assert [line["line"] for line in Person.unscoped.get().card_lines] == [
        "item1.X-ABRELATEDNAMES:William King",
        "item1.X-ABLabel:_$!<Spouse>!$_",
    ]
    assert counts(import_file(api, "google", table(OLD_GOOGLE))) == (0, 0, 1, 0)


def test_current_format_of_google(api: Client) -> None:
    response = import_file(api, "google", table(NEW_GOOGLE))
    assert "photo" in response["results"][0]["reason"]
    grace = people_by_name(api)["Grace"]
    assert [(entry["type"], entry["number"]) for entry in grace["phoneNumbers"]] == [
        ("work fax", "+1 555 0100"),
        ("work fax", "+1 555 0101"),
    ]
    assert (grace["emails"][0]["type"], grace["organization"]) == ("other", "Navy")
    assert [group["name"] for group in grace["groups"]] == ["Compilers"]


def test_labels_of_the_owner_stay_as_typed_and_those_of_google_are_types(api: Client) -> None:
    row = {
        "First Name": "Ada",
        "E-mail 1 - Label": "Summer House",
        "E-mail 1 - Value": "ada@example.org",
        "Phone 1 - Label": "Home Fax",
        "Phone 1 - Value": "+44 20 7946 0001",
        "Event 1 - Label": "Met at McDonald",
        "Event 1 - Value": "1835-07-08",
        "Custom Field 1 - Label": "Work",
        "Custom Field 1 - Value": "Engines",
    }
    import_file(api, "google", table(row))
    ada = people_by_name(api)["Ada"]
    assert (ada["emails"][0]["type"], ada["phoneNumbers"][0]["type"]) == ("Summer House", "home fax")
    assert (ada["importantDates"][0]["title"], ada["customFields"][0]["key"]) == ("Met at McDonald", "Work")


def test_format_of_outlook(api: Client) -> None:
    response = import_file(api, "outlook", table(OUTLOOK).encode("cp1252"))
    assert counts(response) == (1, 0, 0, 0)
    assert "reason" not in response["results"][0]
    alan = people_by_name(api)["Alan"]
    assert (alan["prefix"], alan["surname"], alan["jobTitle"]) == ("Dr.", "Turing", "Cryptanalyst")
    assert {(entry["type"], entry["number"]) for entry in alan["phoneNumbers"]} == {
        ("assistant", "+44 1"),
        ("work fax", "+44 2"),
        ("work", "+44 3"),
        ("mobile", "+44 4"),
        ("pager", "+44 5"),
    }
    address, other = alan["addresses"]
    assert (other["type"], other["streetLine1"]) == ("other", "Wilmslow")
    assert [address[key] for key in ("type", "streetLine1", "streetLine2", "locality")] == [
        "work",
        "Sherwood Drive",
        "Hut 8",
        "Bletchley",
    ]
    assert alan["importantDates"][0]["date"][:10] == "1912-06-23"
    assert {entry["key"] for entry in alan["customFields"]} == {"Department", "Hobby", "User 1"}
    assert alan["notes"] == "Two\nlines"
    assert set(Group.unscoped.values_list("name", flat=True)) == {"Work", "Friends"}


def test_format_of_linkedin_with_leading_notes(api: Client) -> None:
    response = import_file(api, "linkedin", LINKEDIN)
    assert counts(response) == (2, 0, 0, 0)
    people = people_by_name(api)
    assert (people["Priya"]["organization"], people["Priya"]["jobTitle"]) == ("Stripe, Inc.", "Technical Recruiter")
    assert people["Priya"]["customFields"][0]["value"] == "2024-03-12"
    assert (people["Neha"]["urls"][0]["type"], people["Neha"]["customFields"][0]["value"]) == ("linkedin", "2022-02-07")
    assert people["Neha"]["jobTitle"] == 'Senior "Platform" Engineer'
