"""The tables of accounts, their sessions, tokens and settings."""

import accounts.models.user
import accounts.vocabularies
import contacts_project.kernel.crypto.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid_utils.compat
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='PendingFileDeletion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=255)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='RegistrationLock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('taken', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254)),
                ('proven_email', models.EmailField(blank=True, max_length=254, null=True)),
                ('email_key', models.CharField(editable=False, max_length=360)),
                ('proven_email_key', models.CharField(editable=False, max_length=360, null=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('name', models.CharField(max_length=100)),
                ('surname', models.CharField(blank=True, max_length=100, null=True)),
                ('nickname', models.CharField(blank=True, max_length=100, null=True)),
                ('photo', models.CharField(blank=True, max_length=200, null=True)),
                ('theme', models.CharField(choices=[('LIGHT', 'Light'), ('DARK', 'Dark')], default=accounts.vocabularies.Theme['LIGHT'], max_length=10)),
                ('date_format', models.CharField(choices=[('MDY', 'Mdy'), ('DMY', 'Dmy'), ('YMD', 'Ymd')], default=accounts.vocabularies.DateFormat['YMD'], max_length=3)),
                ('name_order', models.CharField(choices=[('WESTERN', 'Western'), ('EASTERN', 'Eastern')], default=accounts.vocabularies.NameOrder['WESTERN'], max_length=10)),
                ('name_display_format', models.CharField(choices=[('FULL', 'Full'), ('NICKNAME_PREFERRED', 'Nickname Preferred'), ('SHORT', 'Short')], default=accounts.vocabularies.NameDisplayFormat['FULL'], max_length=20)),
                ('graph_mode', models.CharField(choices=[('individuals', 'Individuals'), ('bubbles', 'Bubbles')], default=accounts.vocabularies.GraphMode['INDIVIDUALS'], max_length=20)),
                ('language', models.CharField(default='en', max_length=10)),
                ('geocoding_enabled', models.BooleanField(default=False)),
                ('time_zone', models.CharField(default='UTC', max_length=64)),
                ('reminder_hour', models.PositiveSmallIntegerField(default=9)),
                ('leap_day_rule', models.CharField(choices=[('FEB28', 'Feb28'), ('MAR1', 'Mar1')], default=accounts.vocabularies.LeapDayRule['FEB28'], max_length=5)),
                ('default_reminder_lead_days', models.PositiveSmallIntegerField(default=0)),
                ('quiet_hours', models.JSONField(blank=True, null=True)),
                ('email_reminders_enabled', models.BooleanField(default=True)),
                ('weekly_digest_enabled', models.BooleanField(default=False)),
                ('weekly_digest_weekday', models.PositiveSmallIntegerField(default=1)),
                ('plan', models.CharField(choices=[('FREE', 'Free'), ('PERSONAL', 'Personal'), ('PRO', 'Pro')], default=accounts.models.user.Plan['FREE'], max_length=10)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('revision', models.BigIntegerField(default=0, editable=False)),
                ('settings_revision', models.BigIntegerField(default=0, editable=False)),
                ('reminders_stale', models.BooleanField(default=False, editable=False)),
                ('is_mirrored', models.BooleanField(default=False, editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
        ),
        migrations.CreateModel(
            name='AccountSession',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('session_key', models.CharField(max_length=40, unique=True)),
                ('user_agent', models.CharField(blank=True, default='', max_length=500)),
                ('ip', models.CharField(blank=True, default='', max_length=45)),
                ('last_used_at', models.DateTimeField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name', models.CharField(max_length=100)),
                ('prefix', models.CharField(max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('scope', models.CharField(choices=[('READ', 'Read'), ('READ_WRITE', 'Read Write')], default=accounts.vocabularies.TokenScope['READ_WRITE'], max_length=10)),
                ('kind', models.CharField(choices=[('token', 'Token'), ('device', 'Device')], default=accounts.vocabularies.TokenKind['TOKEN'], max_length=6)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('group_cards', models.BooleanField(blank=True, null=True)),
                ('book', models.JSONField(blank=True, null=True)),
                ('alarms', models.BooleanField(default=False)),
                ('group_cards_revision', models.BigIntegerField(default=0, editable=False)),
                ('book_revision', models.BigIntegerField(default=0, editable=False)),
                ('alarms_revision', models.BigIntegerField(default=0, editable=False)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
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
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='EmailChange',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('old_email', models.EmailField(max_length=254)),
                ('new_email', models.EmailField(max_length=254)),
                ('password_mark', models.CharField(max_length=64)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='AccountMail',
            fields=[
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('VERIFY', 'Verify'), ('RESET', 'Reset'), ('CHANGED', 'Changed'), ('TAKEN', 'Taken')], max_length=10)),
                ('address', models.CharField(max_length=320)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('change', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.emailchange')),
            ],
        ),
        migrations.CreateModel(
            name='KnownDevice',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('last_used_at', models.DateTimeField()),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='OidcIdentity',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('issuer', models.CharField(max_length=255)),
                ('subject', models.CharField(max_length=255)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'OIDC identities',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('digest', models.CharField(max_length=64)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='StoredResponse',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
                ('holder', models.CharField(blank=True, max_length=150)),
                ('claim', models.UUIDField(blank=True, null=True)),
                ('key_digest', models.CharField(max_length=64)),
                ('content_digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.BinaryField(default=b'')),
                ('size', models.PositiveIntegerField(default=0)),
                ('headers', models.JSONField(default=dict)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='TotpDevice',
            fields=[
                ('id', models.UUIDField(default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('secret', contacts_project.kernel.crypto.fields.EncryptedTextField()),
                ('confirmed_at', models.DateTimeField(blank=True, null=True)),
                ('last_step', models.BigIntegerField(default=0)),
                ('owner', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['email_key'], name='user_email_key'),
        ),
        migrations.AddIndex(
            model_name='user',
            index=models.Index(fields=['created_at', 'id'], name='user_created'),
        ),
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
        migrations.AddIndex(
            model_name='user',
            index=models.Index(condition=models.Q(('reminders_stale', True)), fields=['id'], name='user_reminders_stale'),
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
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(fields=('proven_email_key',), name='user_proven_email_unique'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('proven_email__isnull', True), ('proven_email_key__isnull', True)), models.Q(('proven_email__isnull', False), ('proven_email_key__isnull', False)), _connector='OR'), name='user_proven_email_has_key'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('claimed_at__isnull', True), ('proven_email__isnull', False), _connector='OR'), name='user_claimed_has_proven_email'),
        ),
        migrations.AddIndex(
            model_name='accountsession',
            index=models.Index(fields=['owner', 'created_at'], name='account_session_owner'),
        ),
        migrations.AddIndex(
            model_name='apitoken',
            index=models.Index(fields=['owner', 'created_at'], name='api_token_owner'),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['READ', 'READ_WRITE'])), name='api_token_scope_known'),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['token', 'device'])), name='api_token_kind_known'),
        ),
        migrations.AddIndex(
            model_name='appcode',
            index=models.Index(fields=['owner', 'ends_at'], name='app_code_owner'),
        ),
        migrations.AddIndex(
            model_name='appcode',
            index=models.Index(fields=['ends_at'], name='app_code_end'),
        ),
        migrations.AddIndex(
            model_name='emailchange',
            index=models.Index(fields=['owner', 'created_at'], name='email_change_owner'),
        ),
        migrations.AddIndex(
            model_name='accountmail',
            index=models.Index(fields=['next_try_at'], name='account_mail_next_try'),
        ),
        migrations.AddConstraint(
            model_name='accountmail',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['VERIFY', 'RESET', 'CHANGED', 'TAKEN'])), name='account_mail_kind_known'),
        ),
        migrations.AddIndex(
            model_name='knowndevice',
            index=models.Index(fields=['owner', 'last_used_at'], name='known_device_owner'),
        ),
        migrations.AddConstraint(
            model_name='oidcidentity',
            constraint=models.UniqueConstraint(fields=('issuer', 'subject'), name='oidc_identity_unique'),
        ),
        migrations.AddConstraint(
            model_name='recoverycode',
            constraint=models.UniqueConstraint(fields=('owner', 'digest'), name='recovery_code_unique'),
        ),
        migrations.AddIndex(
            model_name='storedresponse',
            index=models.Index(fields=['created_at'], name='stored_response_age'),
        ),
        migrations.AddIndex(
            model_name='storedresponse',
            index=models.Index(fields=['owner', 'size'], name='stored_response_sizes'),
        ),
        migrations.AddConstraint(
            model_name='storedresponse',
            constraint=models.UniqueConstraint(fields=('owner', 'key_digest'), name='stored_response_once'),
        ),
        migrations.AddConstraint(
            model_name='totpdevice',
            constraint=models.UniqueConstraint(fields=('owner',), name='totp_device_one_per_owner'),
        ),
    ]
