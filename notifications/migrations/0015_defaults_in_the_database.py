"""A process of the version before, which knows no such columns, may insert deliveries while machines are upgraded."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0014_reminder_answers")]
    operations = [
        migrations.AlterField("delivery", "answers", models.JSONField(db_default=[], default=list)),
        migrations.AlterField("delivery", "lead_days", models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.AlterField("delivery", "round", models.PositiveSmallIntegerField(db_default=0, default=0)),
    ]
