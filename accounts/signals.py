"""News of accounts, sent on commit, carrying ids. Receivers only enqueue.

preferences_changed   user_id, fields (set of model field names)
mail_queued           mail_id  a row of AccountMail is to be sent
"""

from django.dispatch import Signal

preferences_changed = Signal()
mail_queued = Signal()
