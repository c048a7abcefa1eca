"""Signals of the sync for other apps; the composition root connects them.

contacts_found   owner_id, run_id, count (int), now   a run found new pending imports, and importMode is notify
"""

from django.dispatch import Signal

contacts_found = Signal()
