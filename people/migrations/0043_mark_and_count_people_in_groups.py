"""Whoever is in an active group is marked and counted; from now on triggers do so."""

from django.db import migrations


def mark_and_count(apps, schema_editor):
    from people.counts import IN_GROUPS, recount

    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "UPDATE people_person SET without_groups = FALSE WHERE id IN ("
            "SELECT m.person_id FROM people_membership m JOIN people_group g ON g.id = m.group_id "
            "WHERE g.deleted_at IS NULL)"
        )
        recount(cursor, (IN_GROUPS,))


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0042_without_groups'),
    ]

    operations = [
        migrations.RunPython(mark_and_count, migrations.RunPython.noop),
    ]
