"""Changes no table: a migration run installs the triggers anew, which have become others."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0044_orders_of_people_without_groups'),
    ]

    operations = []
