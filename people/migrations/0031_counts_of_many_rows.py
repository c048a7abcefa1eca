"""Changes no table. A migration has the triggers made anew: on PostgreSQL those of counts run once a statement."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("people", "0030_filters_of_operators")]
    operations = []
