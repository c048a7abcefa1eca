"""A claim now says that a row is held: deliveries that wait or have ended kept their last one so far."""

from typing import Any

from django.db import migrations


def release(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("notifications", "Delivery")._base_manager.filter(claim__isnull=False)
    rows.exclude(state="sending").update(claim=None, holder="")


class Migration(migrations.Migration):
    dependencies = [("notifications", "0006_drop_budget_draws")]
    operations = [migrations.RunPython(release, migrations.RunPython.noop, elidable=True)]
