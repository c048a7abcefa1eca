"""Orders and marks of the list are sorted and counted when they are asked for: no index, column or stored count."""

from django.db import migrations

_INDEXES = """
    person_by_contact person_by_next_date person_by_creation person_newest_first
    person_favourites person_fav_by_contact person_fav_by_next_date person_fav_by_creation person_fav_newest_first
    person_without_groups person_no_group_by_contact person_no_group_by_next_date person_no_group_by_creation
    person_no_group_newest_first person_no_group_favourites person_no_group_fav_contact person_no_group_fav_next_date
    person_no_group_fav_creation person_no_group_fav_newest
    person_quiet person_quiet_by_contact person_quiet_by_next_date person_quiet_by_creation
""".split()


def delete_counts(apps, schema_editor):
    apps.get_model("people", "AccountCount").objects.filter(kind__in=["marked", "grouped", "days"]).delete()


class Migration(migrations.Migration):
    dependencies = [("people", "0002_keys_of_numbers_and_given_names")]

    operations = [
        *(migrations.RemoveIndex("person", name) for name in _INDEXES),
        migrations.RemoveField("person", "without_groups"),
        migrations.RunPython(delete_counts, migrations.RunPython.noop),
    ]
