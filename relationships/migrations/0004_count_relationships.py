from django.db import migrations


def count(apps, schema_editor):
    from people.counts import recount
    from relationships.counts import COUNTED_RELATIONSHIPS

    with schema_editor.connection.cursor() as cursor:
        recount(cursor, (COUNTED_RELATIONSHIPS,))


class Migration(migrations.Migration):

    dependencies = [
        ("relationships", "0003_let_types_lose_their_inverse"),
        ("people", "0008_counts_of_accounts"),
    ]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
