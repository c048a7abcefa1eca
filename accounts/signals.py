"""Signals about accounts, sent on commit, with ids as arguments. Receivers only enqueue tasks.

preferences_changed   user_id, fields (set of model field names)
mail_queued           mail_id of an AccountMail that is to be sent
"""

from django.dispatch import Signal

preferences_changed = Signal()
mail_queued = Signal()
