"""Which writes were an import's own, whether it has ended, and the lease of its undo."""

from django.db import migrations, models
from django.db.models import F


def end_imports(apps, schema_editor):
    """Those of before have ended, as far as anybody knows."""
    apps.get_model("people", "ContactImport")._base_manager.update(ended_at=F("updated_at"))


class Migration(migrations.Migration):
    dependencies = [("people", "0026_photos_stored_without_the_lock")]

    operations = [
        migrations.AddField("contactimport", "own_revisions", models.JSONField(db_default=[], default=list)),
        migrations.AddField("contactimport", "ended_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("contactimport", "undo_until", models.DateTimeField(blank=True, null=True)),
        migrations.AlterField("contactimport", "last_revision", models.BigIntegerField(db_default=0, default=0)),
        migrations.RunPython(end_imports, migrations.RunPython.noop),
    ]
