"""News of people for the apps above, sent on commit, carrying ids. Receivers only enqueue.

people_changed   owner_id, person_ids   content of people changed (created, edited, restored, merged)
people_deleted   owner_id, person_ids, from_card_dav (bool)   people were soft-deleted
addresses_noted  owner_id   new addresses wait for the geocoder
"""

from django.dispatch import Signal

people_changed = Signal()
people_deleted = Signal()
addresses_noted = Signal()
