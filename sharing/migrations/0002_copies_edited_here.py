"""Notes in copies whose people were edited where the share made them that they were: until now a revision said so."""

from django.db import migrations
from django.db.models import Exists, F, OuterRef, Q


def note_edits(apps, schema_editor):
    copies = apps.get_model("sharing", "SharedCopy")._base_manager
    dates = apps.get_model("people", "ImportantDate")._base_manager
    later = dates.filter(person=OuterRef("person"), revision__gt=OuterRef("made_revision"))
    edited = copies.filter(Q(person__revision__gt=F("made_revision")) | Exists(later), is_made_here=True)
    copies.filter(pk__in=edited.values("pk")).update(is_made_here=False)


class Migration(migrations.Migration):
    dependencies = [("sharing", "0001_tables")]

    operations = [migrations.RunPython(note_edits, migrations.RunPython.noop, elidable=True)]
