from django.db import migrations, models
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce


def fill(apps, schema_editor):
    """Which notice a row waits for: until now a date had one."""
    owner = apps.get_model("accounts", "User").objects.filter(pk=OuterRef("owner_id"))
    lead_days = Coalesce("reminder_lead_days", Subquery(owner.values("default_reminder_lead_days")))
    dates = apps.get_model("people", "ImportantDate")
    dates._base_manager.filter(next_kind="lead").update(next_lead_days=lead_days)


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0024_fill_related_names_and_addresses'),
    ]

    operations = [
        migrations.AddField(
            model_name='importantdate',
            name='extra_lead_days',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name='importantdate',
            name='next_lead_days',
            field=models.PositiveSmallIntegerField(default=0, editable=False),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
