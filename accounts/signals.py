"""News of accounts for the apps above, sent on commit, carrying ids. Receivers only enqueue.

preferences_changed   user_id, fields (set of model field names)
"""

from django.dispatch import Signal

preferences_changed = Signal()
