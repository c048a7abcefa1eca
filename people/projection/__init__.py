"""How people are read: rows as values, what stands beside them in one query each, JSON columns passed through raw."""

from people.projection.lists import project, project_all, project_page
from people.projection.people import any_person, person_answers, whole_people, whole_person
from people.projection.search_index import search_records
from people.projection.trash import deleted_people

__all__ = [
    "any_person",
    "deleted_people",
    "person_answers",
    "project",
    "project_all",
    "project_page",
    "search_records",
    "whole_people",
    "whole_person",
]
