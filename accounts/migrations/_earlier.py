"""The steps by which the tables of accounts, their sessions, tokens and settings came to be what 0001_tables makes of nothing.

For databases and backups of before the first release, which may have some of these steps only: the others run
(contacts_project.kernel.database.earlier_migrations).
"""

import contacts_project.kernel.crypto.fields
import contacts_project.kernel.ids
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.manager
import django.utils.timezone
import uuid_utils.compat
from contacts_project.kernel.database.normal_forms import compose_rows
from contacts_project.kernel.text_forms import fold_domain
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Length
from typing import Any


class Step0001(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254, unique=True)),
                ('email_verified_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('surname', models.CharField(blank=True, max_length=100, null=True)),
                ('nickname', models.CharField(blank=True, max_length=100, null=True)),
                ('photo', models.CharField(blank=True, max_length=200, null=True)),
                ('theme', models.CharField(default='LIGHT', max_length=10)),
                ('date_format', models.CharField(default='YMD', max_length=3)),
                ('name_order', models.CharField(default='WESTERN', max_length=10)),
                ('name_display_format', models.CharField(default='FULL', max_length=20)),
                ('graph_mode', models.CharField(default='individuals', max_length=20)),
                ('language', models.CharField(default='en', max_length=10)),
                ('geocoding_enabled', models.BooleanField(default=False)),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('reminder_hour', models.PositiveSmallIntegerField(default=9)),
                ('leap_day_rule', models.CharField(default='FEB28', max_length=5)),
                ('default_reminder_lead_days', models.PositiveSmallIntegerField(default=0)),
                ('email_reminders_enabled', models.BooleanField(default=True)),
                ('weekly_digest_enabled', models.BooleanField(default=False)),
                ('weekly_digest_weekday', models.PositiveSmallIntegerField(default=1)),
                ('plan', models.CharField(choices=[('FREE', 'Free'), ('PERSONAL', 'Personal'), ('PRO', 'Pro')], default='FREE', max_length=10)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('reminders_stale', models.BooleanField(default=False, editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('reminders_stale', True)), fields=['id'], name='user_reminders_stale'),
                ],
                'constraints': [
                    models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_unique_without_case'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name', models.CharField(max_length=100)),
                ('prefix', models.CharField(max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('scope', models.CharField(default='READ_WRITE', max_length=10)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'created_at'], name='api_token_owner'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0002(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='RegistrationTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('taken', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='AccountSession',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('session_key', models.CharField(max_length=40, unique=True)),
                ('user_agent', models.CharField(blank=True, default='', max_length=500)),
                ('ip', models.CharField(blank=True, default='', max_length=45)),
                ('last_used_at', models.DateTimeField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'created_at'], name='account_session_owner')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0003(migrations.Migration):

    dependencies = [
        ('accounts', '0002_sessions_and_registration_turns'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccountMail',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('VERIFY', 'Verify'), ('RESET', 'Reset'), ('TAKEN', 'Taken')], max_length=10)),
                ('address', models.EmailField(max_length=254)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['next_try_at'], name='account_mail_next_try')],
            },
        ),
    ]


class Step0004(migrations.Migration):

    dependencies = [
        ('accounts', '0003_account_mails'),
    ]

    operations = [
        migrations.CreateModel(
            name='DoomedFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=255)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
    ]


class Step0005(migrations.Migration):

    dependencies = [
        ('accounts', '0004_doomed_files'),
    ]

    operations = [
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('digest', models.CharField(max_length=64)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'digest'), name='recovery_code_unique')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='TotpDevice',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('secret', contacts_project.kernel.crypto.fields.EncryptedTextField()),
                ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                ('last_step', models.BigIntegerField(default=0)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner',), name='totp_device_one_per_owner')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0006(migrations.Migration):

    dependencies = [
        ('accounts', '0005_second_factor'),
    ]

    operations = [
        migrations.CreateModel(
            name='OidcIdentity',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('issuer', models.CharField(max_length=255)),
                ('subject', models.CharField(max_length=255)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'OIDC identities',
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='oidc_identity_unique')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0007(migrations.Migration):

    dependencies = [
        ('accounts', '0006_oidc_identities'),
    ]

    operations = [
        migrations.CreateModel(
            name='KnownDevice',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('last_used_at', models.DateTimeField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'last_used_at'], name='known_device_owner')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


def prove_verified_addresses(apps, schema_editor):
    """What was verified is proven, and what was proven is claimed: so far nothing told the two apart.

    Domains get their one spelling. Where that makes an address another account's, it has to be verified anew.
    """
    users = apps.get_model('accounts', 'User').objects
    users.filter(claimed_at__isnull=False).update(proven_email=models.F('email'))
    for user in users.order_by('created_at', 'pk').only('email', 'proven_email', 'claimed_at').iterator():
        email = one_spelling(user.email)
        if email == user.email:
            continue
        user.email = email
        if user.proven_email and not users.filter(proven_email__iexact=email).exists():
            user.proven_email = email
        else:
            user.proven_email = user.claimed_at = None
        user.save(update_fields=['email', 'proven_email', 'claimed_at'])


def one_spelling(email):
    """As UserManager.normalize_email is at the time of this migration."""
    local, at, domain = email.rpartition('@')
    try:
        domain = domain.encode('idna').decode('ascii').lower().encode('ascii').decode('idna')
    except UnicodeError:
        domain = domain.lower()
    return f'{local}{at}{domain}'


class Step0008(migrations.Migration):

    dependencies = [
        ('accounts', '0007_known_devices'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='EmailChange',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('old_email', models.EmailField(max_length=254)),
                ('new_email', models.EmailField(max_length=254)),
                ('password_mark', models.CharField(max_length=64)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(fields=['owner', 'created_at'], name='email_change_owner'),
                ],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='user',
            name='user_email_unique_without_case',
        ),
        migrations.RenameField(
            model_name='user',
            old_name='email_verified_at',
            new_name='claimed_at',
        ),
        migrations.AddField(
            model_name='user',
            name='proven_email',
            field=models.EmailField(blank=True, max_length=254, null=True),
        ),
        migrations.AlterField(
            model_name='accountmail',
            name='kind',
            field=models.CharField(choices=[('VERIFY', 'Verify'), ('RESET', 'Reset'), ('CHANGED', 'Changed'), ('TAKEN', 'Taken')], max_length=10),
        ),
        migrations.AlterField(
            model_name='user',
            name='email',
            field=models.EmailField(max_length=254),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(django.db.models.functions.text.Lower('email'), name='user_email_without_case'),
        ),
        migrations.AddField(
            model_name='accountmail',
            name='change',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.emailchange'),
        ),
        migrations.RunPython(prove_verified_addresses, migrations.RunPython.noop),
    ]


class Step0009(migrations.Migration):

    dependencies = [
        ('accounts', '0008_proven_addresses'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('proven_email'), name='user_proven_email_unique'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('claimed_at__isnull', True), ('proven_email__isnull', False), _connector='OR'), name='user_claimed_has_proven_email'),
        ),
    ]


class Step0010(migrations.Migration):

    dependencies = [
        ('accounts', '0009_one_account_proves_an_address'),
    ]

    operations = [
        migrations.AddField(
            model_name='accountmail',
            name='claim',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='accountmail',
            name='held_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='accountmail',
            name='holder',
            field=models.CharField(blank=True, max_length=150),
        ),
    ]


class Step0011(migrations.Migration):

    dependencies = [
        ('accounts', '0010_lease_account_mails'),
    ]

    operations = [
        migrations.RenameModel(old_name='DoomedFile', new_name='PendingFileDeletion'),
        migrations.RenameModel(old_name='RegistrationTurn', new_name='RegistrationLock'),
    ]


class Step0012(migrations.Migration):
    """The revision that last changed the profile; of accounts that are there, the one that they have."""

    dependencies = [
        ('accounts', '0011_name_locks_and_file_deletions'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='settings_revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.RunSQL("UPDATE accounts_user SET settings_revision = revision", migrations.RunSQL.noop),
    ]


class Step0013(migrations.Migration):
    """Columns that hold a word of a vocabulary take no other."""

    dependencies = [
        ('accounts', '0012_revisions_of_rows'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.AlterField(
            model_name='apitoken',
            name='scope',
            field=models.CharField(choices=[('READ', 'Read'), ('READ_WRITE', 'Read Write')], default='READ_WRITE', max_length=10),
        ),
        migrations.AlterField(
            model_name='user',
            name='date_format',
            field=models.CharField(choices=[('MDY', 'Mdy'), ('DMY', 'Dmy'), ('YMD', 'Ymd')], default='YMD', max_length=3),
        ),
        migrations.AlterField(
            model_name='user',
            name='graph_mode',
            field=models.CharField(choices=[('individuals', 'Individuals'), ('bubbles', 'Bubbles')], default='individuals', max_length=20),
        ),
        migrations.AlterField(
            model_name='user',
            name='leap_day_rule',
            field=models.CharField(choices=[('FEB28', 'Feb28'), ('MAR1', 'Mar1')], default='FEB28', max_length=5),
        ),
        migrations.AlterField(
            model_name='user',
            name='name_display_format',
            field=models.CharField(choices=[('FULL', 'Full'), ('NICKNAME_PREFERRED', 'Nickname Preferred'), ('SHORT', 'Short')], default='FULL', max_length=20),
        ),
        migrations.AlterField(
            model_name='user',
            name='name_order',
            field=models.CharField(choices=[('WESTERN', 'Western'), ('EASTERN', 'Eastern')], default='WESTERN', max_length=10),
        ),
        migrations.AlterField(
            model_name='user',
            name='theme',
            field=models.CharField(choices=[('LIGHT', 'Light'), ('DARK', 'Dark')], default='LIGHT', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='accountmail',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['VERIFY', 'RESET', 'CHANGED', 'TAKEN'])), name='account_mail_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['READ', 'READ_WRITE'])), name='api_token_scope_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('theme__in', ['LIGHT', 'DARK'])), name='user_theme_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('date_format__in', ['MDY', 'DMY', 'YMD'])), name='user_date_format_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('name_order__in', ['WESTERN', 'EASTERN'])), name='user_name_order_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('name_display_format__in', ['FULL', 'NICKNAME_PREFERRED', 'SHORT'])), name='user_name_display_format_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('graph_mode__in', ['individuals', 'bubbles'])), name='user_graph_mode_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('leap_day_rule__in', ['FEB28', 'MAR1'])), name='user_leap_day_rule_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('plan__in', ['FREE', 'PERSONAL', 'PRO'])), name='user_plan_known'),
        ),
    ]


class Step0014(migrations.Migration):

    dependencies = [
        ('accounts', '0013_vocabularies'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['created_at', 'id'], name='user_created'),
        ),
    ]


class Step0015(migrations.Migration):
    """Which accounts copy their people elsewhere. Those of today: carddav.0008."""

    dependencies = [
        ('accounts', '0014_newest_accounts_first'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='is_mirrored',
            field=models.BooleanField(default=False, editable=False),
        ),
    ]


class Step0016(migrations.Migration):

    dependencies = [
        ('accounts', '0015_mirrored_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.UUIDField(default=contacts_project.kernel.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('name', models.CharField(max_length=64)),
                ('digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.BinaryField(default=b'')),
                ('headers', models.JSONField(default=dict)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='kept_answer_age')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='kept_answer_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0017(migrations.Migration):

    dependencies = [
        ('accounts', '0016_kept_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='kind',
            field=models.CharField(choices=[('token', 'Token'), ('device', 'Device')], default='token', max_length=6),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['token', 'device'])), name='api_token_kind_known'),
        ),
    ]


class Step0018(migrations.Migration):

    dependencies = [
        ('accounts', '0017_device_tokens'),
    ]

    operations = [
        migrations.CreateModel(
            name='AppCode',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('challenge', models.CharField(max_length=43)),
                ('auth_hash', models.CharField(max_length=64)),
                ('ends_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('token', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apitoken')),
            ],
            options={
                'indexes': [models.Index(fields=['owner', 'ends_at'], name='app_code_owner'), models.Index(fields=['ends_at'], name='app_code_end')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]


class Step0019(migrations.Migration):

    dependencies = [
        ('accounts', '0018_app_codes'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='quiet_hours',
            field=models.JSONField(blank=True, null=True),
        ),
    ]


class Step0020(migrations.Migration):

    dependencies = [
        ('accounts', '0019_quiet_hours'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['plan', 'created_at', 'id'], name='user_plan'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(condition=models.Q(('is_active', False)), fields=['created_at', 'id'], name='user_off'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(condition=models.Q(('is_staff', True)), fields=['created_at', 'id'], name='user_operators'),
        ),
    ]


class Step0021(migrations.Migration):

    dependencies = [
        ('accounts', '0020_filters_of_operators'),
    ]

    operations = [
        migrations.RenameModel(old_name='KeptAnswer', new_name='StoredResponse'),
        migrations.RenameIndex(model_name='storedresponse', old_name='kept_answer_age', new_name='stored_response_age'),
        migrations.RemoveConstraint(model_name='storedresponse', name='kept_answer_once'),
        migrations.AddConstraint(
            model_name='storedresponse',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='stored_response_once'),
        ),
    ]


class Step0022(migrations.Migration):

    dependencies = [
        ('accounts', '0021_stored_responses'),
    ]

    operations = [
        migrations.RenameField(model_name='storedresponse', old_name='name', new_name='key_digest'),
        migrations.RenameField(model_name='storedresponse', old_name='digest', new_name='content_digest'),
        # RenameField renames the constraint's column in the database, but not in the state of migrations.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name='storedresponse', name='stored_response_once'),
                migrations.AddConstraint(
                    model_name='storedresponse',
                    constraint=models.UniqueConstraint(fields=('owner', 'key_digest'), name='stored_response_once'),
                ),
            ],
        ),
    ]


_AT_ONCE = 1000


def fold(email):
    """As UserManager.fold_email is at the time of this migration."""
    local, at, domain = email.rpartition('@')
    return f'{local.lower() if local.isascii() else local}{at}{fold_domain(domain)}'


def fill(apps, schema_editor):
    users = apps.get_model('accounts', 'User')._base_manager
    last = None
    while chunk := list((users.filter(pk__gt=last) if last else users).order_by('pk').only('email', 'proven_email')[:_AT_ONCE]):
        for user in chunk:
            user.email_key = fold(user.email)
            user.proven_email_key = None if user.proven_email is None else fold(user.proven_email)
        users.bulk_update(chunk, ['email_key', 'proven_email_key'], batch_size=200)
        last = chunk[-1].pk
    proven = users.exclude(proven_email_key=None).order_by()
    twice = proven.values('proven_email_key').annotate(number=models.Count('pk')).filter(number__gt=1)
    for key in list(twice.values_list('proven_email_key', flat=True)):
        unclaimed_last = models.F('claimed_at').asc(nulls_last=True)
        holders = list(users.filter(proven_email_key=key).order_by(unclaimed_last, 'created_at', 'pk').only('pk'))
        for user in holders[1:]:
            users.filter(pk=user.pk).update(proven_email_key=f'{key} {user.pk.hex}')


class Step0023(migrations.Migration):
    """Addresses folded by the service, in columns of their own. Nothing that was entered is rewritten.

    A collation may have let two accounts prove one address in two spellings. The address is that of the claimed account, or
    else of the older one; the other keeps its address, with its id behind the folded one.
    """

    dependencies = [
        ('accounts', '0022_digests_of_stored_responses'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='user', name='user_proven_email_unique'),
        migrations.RemoveIndex(model_name='user', name='user_email_without_case'),
        migrations.AddField(
            model_name='user',
            name='email_key',
            field=models.CharField(default='', editable=False, max_length=360),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='user',
            name='proven_email_key',
            field=models.CharField(editable=False, max_length=360, null=True),
        ),
        migrations.AlterField(model_name='accountmail', name='address', field=models.CharField(max_length=320)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]


class Step0024(migrations.Migration):

    dependencies = [
        ('accounts', '0023_folded_addresses'),
    ]

    operations = [
        migrations.AddIndex(model_name='user', index=models.Index(fields=['email_key'], name='user_email_key')),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(fields=['proven_email_key'], name='user_proven_email_unique'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(
                condition=models.Q(proven_email__isnull=True, proven_email_key__isnull=True)
                | models.Q(proven_email__isnull=False, proven_email_key__isnull=False),
                name='user_proven_email_has_key',
            ),
        ),
    ]


ROW_BYTES = 1024  # as accounts.services.stored_responses


def set_sizes(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("accounts", "StoredResponse")._base_manager.exclude(status=None)
    rows.update(size=Length("body") + ROW_BYTES)


class Step0025(migrations.Migration):

    dependencies = [
        ('accounts', '0024_one_account_proves_an_address'),
    ]

    operations = [
        migrations.AddField(
            model_name='storedresponse',
            name='size',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name='storedresponse',
            index=models.Index(fields=['owner', 'size'], name='stored_response_sizes'),
        ),
        migrations.RunPython(set_sizes, migrations.RunPython.noop),
    ]


def compose(apps, schema_editor):
    compose_rows(apps.get_model("accounts", "User"), "name", "surname", "nickname")
    compose_rows(apps.get_model("accounts", "ApiToken"), "name")


class Step0026(migrations.Migration):
    """Texts in NFC, as bodies and files have brought them since."""

    dependencies = [
        ('accounts', '0025_sizes_of_stored_responses'),
    ]

    operations = [
        migrations.RunPython(compose, migrations.RunPython.noop),
    ]


class Step0027(migrations.Migration):

    dependencies = [
        ('accounts', '0026_compose_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='alarms',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='alarms_revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='book',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='book_revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='group_cards',
            field=models.BooleanField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='group_cards_revision',
            field=models.BigIntegerField(default=0, editable=False),
        ),
    ]


STEPS = {
    "0001_initial": Step0001,
    "0002_sessions_and_registration_turns": Step0002,
    "0003_account_mails": Step0003,
    "0004_doomed_files": Step0004,
    "0005_second_factor": Step0005,
    "0006_oidc_identities": Step0006,
    "0007_known_devices": Step0007,
    "0008_proven_addresses": Step0008,
    "0009_one_account_proves_an_address": Step0009,
    "0010_lease_account_mails": Step0010,
    "0011_name_locks_and_file_deletions": Step0011,
    "0012_revisions_of_rows": Step0012,
    "0013_vocabularies": Step0013,
    "0014_newest_accounts_first": Step0014,
    "0015_mirrored_accounts": Step0015,
    "0016_kept_answers": Step0016,
    "0017_device_tokens": Step0017,
    "0018_app_codes": Step0018,
    "0019_quiet_hours": Step0019,
    "0020_filters_of_operators": Step0020,
    "0021_stored_responses": Step0021,
    "0022_digests_of_stored_responses": Step0022,
    "0023_folded_addresses": Step0023,
    "0024_one_account_proves_an_address": Step0024,
    "0025_sizes_of_stored_responses": Step0025,
    "0026_compose_texts": Step0026,
    "0027_settings_of_devices": Step0027,
}
"""By their names, in their order."""
