"""Custom field templates through the API: types, slugs, options and their renaming, order, trash, plan limit."""

from typing import Any

import pytest
from django.conf import LazySettings
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from people.services.custom_fields import renamed_options
from tests.builders import make_person, set_plan_limits
from tests.client import Client

pytestmark = [pytest.mark.sqlite_suffices, pytest.mark.django_db]

PATH = "/api/custom-field-templates"


def add(api: Client, status: int = 201, **body: Any) -> Any:
    response = api.ok("post", PATH, {"name": "Shoe size", "type": "TEXT", **body}, status=status)
    return response["customFieldTemplate"] if status == 201 else response


def select(api: Client, *options: str) -> Any:
    return add(api, name="Diet", type="SELECT", options=list(options))


def put_value(api: Client, person: Any, template: Any, value: Any) -> None:
    body = {"customFieldValues": [{"templateId": template["id"], "value": value}]}
    api.ok("put", f"/api/people/{person.pk}", body)


def values(api: Client, person: Any) -> list[Any]:
    return [entry["value"] for entry in api.ok("get", f"/api/people/{person.pk}")["person"]["customFieldValues"]]


def test_template_is_returned_with_all_fields(api: Client) -> None:
    made = add(api, name=" Shoe size ")
    assert made == {
        "id": made["id"],
        "name": "Shoe size",
        "slug": "shoe-size",
        "type": "TEXT",
        "options": [],
        "order": 1,
        "deletedAt": None,
        "createdAt": made["createdAt"],
        "updatedAt": made["updatedAt"],
    }
    assert api.ok("get", f"{PATH}/{made['id']}") == {"customFieldTemplate": made}
    assert api.ok("get", PATH) == {"customFieldTemplates": [made]}


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Größe", "grosse"), ("T-shirt  SIZE!", "t-shirt-size"), ("身長", "身長"), ("!!!", "field"), ("Łódź", "lodz")],
)
def test_the_slug_comes_from_the_name(api: Client, name: str, slug: str) -> None:
    assert add(api, name=name)["slug"] == slug


def test_slugs_are_unique_for_good_and_never_change(api: Client, stranger: Client) -> None:
    first, second = add(api), add(api)
    assert (first["slug"], second["slug"]) == ("shoe-size", "shoe-size-2")
    assert add(stranger)["slug"] == "shoe-size"
    api.ok("delete", f"{PATH}/{first['id']}")
    assert add(api)["slug"] == "shoe-size-3"
    changed = api.ok("put", f"{PATH}/{second['id']}", {"name": "Hat", "slug": "hat", "type": "NUMBER"})
    assert changed["customFieldTemplate"] | {"updatedAt": ""} == second | {"name": "Hat", "updatedAt": ""}


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"type": "DATE"}, "type"),
        ({"type": "text"}, "type"),
        ({"type": None}, "type"),
        ({"type": "SELECT"}, "options"),
        ({"type": "SELECT", "options": []}, "options"),
        ({"type": "SELECT", "options": "a"}, "options"),
        ({"type": "SELECT", "options": ["a", ""]}, "options.1"),
        ({"type": "SELECT", "options": ["a", 5]}, "options.1"),
        ({"type": "SELECT", "options": ["a", " a "]}, "options.1"),
        ({"type": "SELECT", "options": ["x" * 101]}, "options.0"),
        ({"type": "SELECT", "options": [str(i) for i in range(51)]}, "options"),
        ({"type": "TEXT", "options": ["a"]}, "options"),
        ({"order": "1"}, "order"),
    ],
)
def test_invalid_fields_are_reported(api: Client, body: dict[str, Any], field: str) -> None:
    assert add(api, 400, **body)["details"][0]["field"] == field
    assert api.ok("get", PATH) == {"customFieldTemplates": []}


def test_templates_have_an_order(api: Client, stranger: Client) -> None:
    a, b, c = (add(api, name=name) for name in "abc")

    def order() -> list[str]:
        return [template["name"] for template in api.ok("get", PATH)["customFieldTemplates"]]

    assert order() == ["a", "b", "c"]
    response = api.ok("put", f"{PATH}/reorder", {"ids": [c["id"], a["id"]]})
    assert [template["order"] for template in response["customFieldTemplates"]] == [1, 2, 3]
    assert order() == ["c", "a", "b"]
    foreign = add(stranger)["id"]
    for ids in ([b["id"], foreign], [], None, "x"):
        assert api.ok("put", f"{PATH}/reorder", {"ids": ids}, status=400)["details"][0]["field"].startswith("ids")
    assert order() == ["c", "a", "b"]
    api.ok("put", f"{PATH}/{b['id']}", {"order": 0})
    assert order() == ["b", "c", "a"]
    assert add(api, name="d")["order"] == 3


def test_renaming_an_option_renames_the_stored_values(api: Client, alice: User) -> None:
    diet = select(api, "meat", "fish", "vegan")
    ada, bob = make_person(alice, name="Ada"), make_person(alice, name="Bob")
    put_value(api, ada, diet, "fish")
    put_value(api, bob, diet, "vegan")
    api.ok("put", f"{PATH}/{diet['id']}", {"options": ["meat", "seafood", "vegan"]})
    assert (values(api, ada), values(api, bob)) == (["seafood"], ["vegan"])
    api.ok("put", f"{PATH}/{diet['id']}", {"options": ["vegan", "meat", "seafood"]})
    assert (values(api, ada), values(api, bob)) == (["seafood"], ["vegan"])


def test_an_option_in_use_is_not_removed(api: Client, alice: User) -> None:
    diet = select(api, "meat", "fish", "vegan")
    ada = make_person(alice, name="Ada")
    put_value(api, ada, diet, "fish")
    path = f"{PATH}/{diet['id']}"
    assert api.ok("put", path, {"options": ["meat", "vegan"]}, status=400)["details"][0]["field"] == "options"
    assert values(api, ada) == ["fish"]
    assert api.ok("put", path, {"options": ["fish", "new", "more", "vegan"]})
    assert api.ok("put", path, {"options": []}, status=400)["details"][0]["field"] == "options"
    assert values(api, ada) == ["fish"]


@given(st.permutations(["a", "b", "c", "d"]), st.permutations(["a", "b", "c", "d"]))
def test_moving_options_renames_none(before: list[str], after: list[str]) -> None:
    assert renamed_options(before, after) == {}


@given(st.lists(st.text(max_size=3), unique=True, min_size=1), st.data())
def test_a_new_text_in_one_place_is_a_rename(before: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(before) - 1))
    after = [*before[:place], "a new text", *before[place + 1 :]]
    assert renamed_options(before, after) == {before[place]: "a new text"}


def test_deleting_hides_the_values_until_restore(api: Client, alice: User) -> None:
    diet, size = select(api, "meat"), add(api, type="NUMBER")
    ada = make_person(alice)
    both = [{"templateId": diet["id"], "value": "meat"}, {"templateId": size["id"], "value": 42}]
    api.ok("put", f"/api/people/{ada.pk}", {"customFieldValues": both})
    assert "message" in api.ok("delete", f"{PATH}/{diet['id']}")
    assert values(api, ada) == [42]
    put_value(api, ada, size, 43)
    response = api.ok("put", f"/api/people/{ada.pk}", {"customFieldValues": both}, status=400)
    assert response["details"][0]["field"] == "customFieldValues.0.templateId"
    restored = api.ok("post", f"{PATH}/{diet['id']}/restore")["customFieldTemplate"]
    assert restored["deletedAt"] is None
    assert sorted(values(api, ada), key=str) == [43, "meat"]


def test_removal_is_for_the_deleted_and_takes_the_values(api: Client, alice: User) -> None:
    size = add(api, type="NUMBER")
    ada, path = make_person(alice), f"{PATH}/{size['id']}"
    put_value(api, ada, size, 1)
    assert api.ok("post", f"{path}/restore", status=400)["code"] == "not_deleted"
    assert api.ok("delete", f"{path}/permanent", status=400)["code"] == "not_deleted"
    api.ok("delete", path)
    assert api.call("get", path).status_code == 404
    assert api.call("put", path, {"name": "x"}).status_code == 404
    assert api.ok("delete", f"{path}/permanent") == {"success": True}
    assert api.call("post", f"{path}/restore").status_code == 404
    assert values(api, ada) == []


def test_the_plan_bounds_active_templates(api: Client, settings: LazySettings) -> None:
    set_plan_limits(settings, templates=1)
    first = add(api)
    assert add(api, 403) == {
        "error": "Your plan allows 1 template.",
        "code": "plan_limit",
        "params": {"limit": 1},
    }
    api.ok("delete", f"{PATH}/{first['id']}")
    add(api)
    assert api.ok("post", f"{PATH}/{first['id']}/restore", status=403)["code"] == "plan_limit"
