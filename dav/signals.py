"""Signals of devices for other apps, sent on commit; the composition root connects them.

many_deleted   owner_id, token_id, device_name, count, since, now   a device deleted many people within an hour
card_refused   owner_id, token_id, device_name, now                 a device sent what was refused, in whole or in part
"""

from django.dispatch import Signal

many_deleted = Signal()
card_refused = Signal()
