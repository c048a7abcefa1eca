from django.conf import settings
from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce


def fill(apps, schema_editor):
    """Until now a date had one notice: what was sent is that of the lead days that it has now."""
    dates = apps.get_model("people", "ImportantDate")._base_manager.filter(pk=OuterRef("source_id"))
    own = Coalesce("reminder_lead_days", F("owner__default_reminder_lead_days"))
    lead_days = Coalesce(Subquery(dates.values(lead=own)), 0)
    sent = apps.get_model("notifications", "Delivery")._base_manager.filter(kind="reminder.important_date_lead")
    sent.update(lead_days=lead_days)


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0012_calendar_feeds'),
        ('people', '0025_extra_lead_days'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_once',
        ),
        migrations.AddField(
            model_name='delivery',
            name='lead_days',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('source_id', 'occurrence_on', 'kind', 'lead_days', 'channel', 'target_key'), name='delivery_once'),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
