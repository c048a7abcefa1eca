"""Reads for the API: rows as JSON, each related table in one query, JSON columns passed through unparsed."""

from people.projection.lists import project, project_all, project_page
from people.projection.people import any_person, serialize_people, whole_people, whole_person
from people.projection.search_index import search_records
from people.projection.trash import deleted_people

__all__ = [
    "any_person",
    "deleted_people",
    "project",
    "project_all",
    "project_page",
    "search_records",
    "serialize_people",
    "whole_people",
    "whole_person",
]
