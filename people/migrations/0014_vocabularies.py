"""Columns that hold a word of a vocabulary take no other."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0013_relationship_types_of_people'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='customfieldtemplate',
            name='type',
            field=models.CharField(choices=[('TEXT', 'Text'), ('NUMBER', 'Number'), ('BOOLEAN', 'Boolean'), ('SELECT', 'Select')], max_length=7),
        ),
        migrations.AlterField(
            model_name='geocodedaddress',
            name='state',
            field=models.CharField(choices=[('pending', 'Pending'), ('skipped', 'Skipped'), ('done', 'Done'), ('failed', 'Failed')], max_length=7),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='next_kind',
            field=models.CharField(blank=True, choices=[('lead', 'Lead'), ('day', 'Day')], default='', editable=False, max_length=4),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='reminder_interval_unit',
            field=models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='reminder_type',
            field=models.CharField(blank=True, choices=[('ONCE', 'Once'), ('RECURRING', 'Recurring')], max_length=9, null=True),
        ),
        migrations.AlterField(
            model_name='importantdate',
            name='type',
            field=models.CharField(blank=True, choices=[('BIRTHDAY', 'Birthday'), ('ANNIVERSARY', 'Anniversary'), ('NAMEDAY', 'Nameday'), ('MEMORIAL', 'Memorial')], max_length=11, null=True),
        ),
        migrations.AlterField(
            model_name='person',
            name='contact_reminder_interval_unit',
            field=models.CharField(blank=True, choices=[('DAYS', 'Days'), ('WEEKS', 'Weeks'), ('MONTHS', 'Months'), ('YEARS', 'Years')], max_length=6, null=True),
        ),
        migrations.AddConstraint(
            model_name='customfieldtemplate',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['TEXT', 'NUMBER', 'BOOLEAN', 'SELECT'])), name='template_type_known'),
        ),
        migrations.AddConstraint(
            model_name='geocodedaddress',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'skipped', 'done', 'failed'])), name='geocoded_address_state_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['BIRTHDAY', 'ANNIVERSARY', 'NAMEDAY', 'MEMORIAL'])), name='important_date_type_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('reminder_type__in', ['ONCE', 'RECURRING'])), name='important_date_reminder_type_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('reminder_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='important_date_reminder_interval_unit_known'),
        ),
        migrations.AddConstraint(
            model_name='importantdate',
            constraint=models.CheckConstraint(condition=models.Q(('next_kind__in', ['lead', 'day', ''])), name='important_date_next_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='person',
            constraint=models.CheckConstraint(condition=models.Q(('contact_reminder_interval_unit__in', ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'])), name='person_contact_reminder_interval_unit_known'),
        ),
    ]
