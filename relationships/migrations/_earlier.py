"""The steps by which the tables of relationships came to be what 0001_tables makes of nothing.

For databases and backups of before the first release, which may have some of these steps only: the others run
(contacts_project.kernel.database.earlier_migrations).
"""

import contacts_project.kernel.ids
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid_utils.compat
from contacts_project.kernel.database.normal_forms import compose_rows
from django.conf import settings
from django.db import migrations, models


class Step0001(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RelationshipType',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=50)),
                ('label', models.CharField(max_length=50)),
                ('color', models.CharField(max_length=7)),
                ('inverse', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relationships.relationshiptype')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'deleted_at'], name='relationship_type_trash'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('owner', 'name'), name='relationship_type_name_unique'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Relationship',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('notes', models.CharField(blank=True, max_length=1000, null=True)),
                ('inverse', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='relationships.relationship')),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relationships', to='people.person')),
                ('related_person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('relationship_type', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relationships.relationshiptype')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'deleted_at', 'created_at'], name='relationship_list'),
                    models.Index(fields=['owner', 'person'], name='relationship_owner'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('person', 'related_person', 'relationship_type'), name='relationship_once'),
                    models.UniqueConstraint(condition=models.Q(('deleted_at', None), ('relationship_type', None)), fields=('person', 'related_person'), name='relationship_untyped_once'),
                    models.CheckConstraint(condition=models.Q(('person', models.F('related_person')), _negated=True), name='relationship_not_with_oneself'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0002(migrations.Migration):

    dependencies = [
        ('relationships', '0001_initial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='relationshiptype',
            name='inverse',
            field=models.OneToOneField(on_delete=models.deletion.CASCADE, related_name='+', to='relationships.relationshiptype'),
        ),
    ]


class Step0003(migrations.Migration):

    dependencies = [
        ('relationships', '0002_make_types_whole'),
    ]

    operations = [
        migrations.AlterField(
            model_name='relationshiptype',
            name='inverse',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='relationships.relationshiptype'),
        ),
    ]


def count(apps, schema_editor):
    from people.counts import recount
    from relationships.counts import COUNTED_RELATIONSHIPS

    with schema_editor.connection.cursor() as cursor:
        recount(cursor, (COUNTED_RELATIONSHIPS,))


class Step0004(migrations.Migration):

    dependencies = [
        ("relationships", "0003_let_types_lose_their_inverse"),
        ("people", "0008_counts_of_accounts"),
    ]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]


_FILL = "UPDATE {table} SET revision = (SELECT revision FROM accounts_user u WHERE u.id = {table}.owner_id)"
_TABLES = ("relationships_relationship", "relationships_relationshiptype", )


class Step0005(migrations.Migration):
    """Rows carry the revision of the write that changed them last; those that are there, their account's."""

    dependencies = [
        ('people', '0012_revisions_of_rows'),
        ('relationships', '0004_count_relationships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='relationship',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='relationshiptype',
            name='revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name='relationship',
            index=models.Index(fields=['owner', 'revision', 'id'], name='relationship_feed'),
        ),
        migrations.AddIndex(
            model_name='relationshiptype',
            index=models.Index(fields=['owner', 'revision', 'id'], name='relationship_type_feed'),
        ),
        *(migrations.RunSQL(_FILL.format(table=table), migrations.RunSQL.noop) for table in _TABLES),
    ]


class Step0006(migrations.Migration):
    """Relationship types have moved to people (people.0013). State only."""

    dependencies = [
        ('people', '0013_relationship_types_of_people'),
        ('relationships', '0005_revisions_of_rows'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='relationship',
                    name='relationship_type',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='people.relationshiptype'),
                ),
                migrations.DeleteModel(
                    name='RelationshipType',
                ),
            ],
        ),
    ]


class Step0007(migrations.Migration):
    """As people.0015; the list in its order, the trash by an index of its own."""

    dependencies = [
        ('people', '0016_no_index_of_owner_alone'),
        ('relationships', '0006_types_are_of_people'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='relationship',
            name='relationship_list',
        ),
        migrations.AlterField(
            model_name='relationship',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='relationship',
            index=models.Index(fields=['owner', 'created_at', 'id'], name='relationship_list'),
        ),
        migrations.AddIndex(
            model_name='relationship',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', 'deleted_at'], name='relationship_trash'),
        ),
    ]


class Step0008(migrations.Migration):
    """Suggestions of relationships that were answered."""

    dependencies = [
        ('people', '0024_fill_related_names_and_addresses'),
        ('relationships', '0007_no_index_of_owner_alone'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AnsweredSuggestion',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('named', models.CharField(blank=True, max_length=200)),
                ('type_name', models.CharField(max_length=20)),
                ('accepted', models.BooleanField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
                ('related_person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='people.person')),
            ],
            options={
                'abstract': False,
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0009(migrations.Migration):

    dependencies = [
        ('relationships', '0008_answered_suggestions'),
    ]

    operations = [
        migrations.RenameField(model_name='answeredsuggestion', old_name='named', new_name='name_on_card'),
    ]


def compose(apps, schema_editor):
    compose_rows(apps.get_model("relationships", "Relationship"), "notes")
    compose_rows(apps.get_model("relationships", "AnsweredSuggestion"), "name_on_card")


class Step0010(migrations.Migration):
    """Texts in NFC, as bodies and files have brought them since."""

    dependencies = [
        ('relationships', '0009_name_on_card'),
    ]

    operations = [
        migrations.RunPython(compose, migrations.RunPython.noop),
    ]


STEPS = {
    "0001_initial": Step0001,
    "0002_make_types_whole": Step0002,
    "0003_let_types_lose_their_inverse": Step0003,
    "0004_count_relationships": Step0004,
    "0005_revisions_of_rows": Step0005,
    "0006_types_are_of_people": Step0006,
    "0007_no_index_of_owner_alone": Step0007,
    "0008_answered_suggestions": Step0008,
    "0009_name_on_card": Step0009,
    "0010_compose_texts": Step0010,
}
"""By their names, in their order."""
