"""News of the sync for the apps beside it, which the composition root passes on.

contacts_found   owner_id, run_id, count (int), now   a run found new contacts that wait, and importMode is notify
"""

from django.dispatch import Signal

contacts_found = Signal()
