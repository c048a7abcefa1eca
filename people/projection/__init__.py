"""Reads for the API: rows as JSON, each related table in one query, JSON columns passed through unparsed."""

from people.projection.lists import deleted_people, project, project_all, project_found, project_ids, project_page
from people.projection.people import REPEATED_IN_FEED, represent_any_person, represent_people, represent_person
from people.projection.search_index import search_records

__all__ = [
    "REPEATED_IN_FEED",
    "deleted_people",
    "project",
    "project_all",
    "project_found",
    "project_ids",
    "project_page",
    "represent_any_person",
    "represent_people",
    "represent_person",
    "search_records",
]
