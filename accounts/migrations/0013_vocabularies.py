"""Columns that hold a word of a vocabulary take no other."""

from django.db import migrations, models


class Migration(migrations.Migration):

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
