"""Accounts and their preferences, and the files that are still to be deleted of deleted accounts."""

from typing import Any, ClassVar
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

from accounts.passwords import normalize_password
from accounts.signals import start_account
from accounts.vocabularies import (
    DateFormat,
    DateReminders,
    GraphMode,
    LeapDayRule,
    NameDisplayFormat,
    NameOrder,
    NameSort,
    Theme,
)
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.account_lock import account_write, revision_values
from contacts_project.kernel.text_forms import display_domain, fold_domain
from contacts_project.kernel.vocabularies import Vocabulary


class Plan(Vocabulary):
    FREE = "FREE"
    PERSONAL = "PERSONAL"
    PRO = "PRO"


#: What an account that is made now prefers where an earlier one has the column's default.
NEW_ACCOUNT = {"date_reminder_default": DateReminders.BIRTHDAYS}


def verification_is_mandatory() -> bool:
    """Whether an account can only be used once its address is proven."""
    return bool(settings.EMAIL_VERIFICATION == "mandatory")


class UserManager(BaseUserManager["User"]):
    """Accounts, by e-mail address without regard to case."""

    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        """The address with its domain in one form for all spellings: lower case, Unicode instead of `xn--` (IDNA)."""
        local, at, domain = (email or "").rpartition("@")
        return f"{local}{at}{display_domain(domain)}"

    def fold_email(self, email: str) -> str:
        """The form in which equal addresses are equal strings: without case, the domain as DNS knows it.

        Only ASCII letters of the local part lose their case: no letter that looks like another may become it.
        """
        local, at, domain = email.rpartition("@")
        return f"{local.lower() if local.isascii() else local}{at}{fold_domain(domain)}"

    def with_email(self, email: str) -> "models.QuerySet[User]":
        """The accounts that have proven the address or claim it.

        Order: the one that has proven it, then those that have proven none, then those that have proven another; in
        each group the last one to sign in first.
        """
        key = self.fold_email(email)
        proven = models.Q(proven_email_key=key)
        return self.filter(models.Q(email_key=key) | proven).order_by(
            models.Case(models.When(proven, then=0), models.When(proven_email=None, then=1), default=2),
            models.F("last_login").desc(nulls_last=True),
            "-created_at",
            "-pk",
        )

    def with_proven_email(self, email: str) -> "models.QuerySet[User]":
        """The one account that has proven the address, or none."""
        return self.filter(proven_email_key=self.fold_email(email))

    def claiming(self, email: str) -> "models.QuerySet[User]":
        """The accounts that have entered the address but not proven it, in the order of `with_email`."""
        unproven = models.Q(proven_email=None) | ~models.Q(proven_email_key=self.fold_email(email))
        return self.with_email(email).filter(unproven)

    def recoverable_by(self, email: str) -> "User | None":
        """The account that the owner of the mailbox may recover: the one that has proven the address, or else one that
        claims it and has proven no other. None if there is none."""
        user = self.with_email(email).first()
        return user if user and self.fold_email(user.recovery_email) == self.fold_email(email) else None

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.with_proven_email(username or "").get()

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "User":
        """Insert the row alone. accounts.services.registration also creates what every new account has."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "User":
        """Create an operator's account for `manage.py createsuperuser`. Raises ValidationError."""
        # No mail is sent: whoever may run commands on the server may also decide that the address is right.
        address = self.normalize_email(email)
        holders = self.with_proven_email(address) if verification_is_mandatory() else self.with_email(address)
        if holders.exists():
            raise ValidationError("Another account has this address.")
        vouched = {"proven_email": address, "claimed_at": timezone.now()}
        with transaction.atomic():
            user = self.create_user(
                address, password, is_staff=True, is_superuser=True, **NEW_ACCOUNT, **vouched, **fields
            )
            with account_write(user):
                start_account(user.pk)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """One account.

    `email` is the address as last entered; any number of accounts may claim the same one. `proven_email` is the address
    whose mails have been shown to reach the owner; no two accounts have the same one. `claimed_at` is when that proof
    came together with the account's password, a session of it, or a password reset. Before that, whoever registered the
    account may be someone other than the owner of the address (docs/accounts.md).

    `email_key` and `proven_email_key` are the two folded (`fold_email`), set by `save`. They are columns because what a
    database makes of capitals depends on its collation: a Turkish one lower-cases `I` to a dotless i. If two accounts
    have proven one address in two spellings, which collations allowed in older versions, that of the younger has its id
    behind the address (`shadowed_key`): it keeps what it has, and the address is the other's.

    `revision` rises with every write to anything that the account owns (kernel.ownership.account_lock);
    `settings_revision` is the revision of the write that last changed the profile (`PROFILE_COLUMNS`). `is_mirrored`
    means that people are copied to a CardDAV server, so that writes have to announce changes; triggers of carddav set
    it. `is_shared` means that other accounts keep people together with it; the services of sharing set it.
    `reminders_stale` means that all next reminders have to be computed again.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(max_length=254)
    proven_email = models.EmailField(max_length=254, null=True, blank=True)  # noqa: DJ001 - many have proven none
    # 64 of the local part, `@` and 253 of the domain in ASCII, a blank and an id.
    email_key = models.CharField(max_length=360, editable=False)
    proven_email_key = models.CharField(max_length=360, null=True, editable=False)  # noqa: DJ001 - as above
    claimed_at = models.DateTimeField(null=True, blank=True)
    name = models.CharField(max_length=100)
    surname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    nickname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - as above
    photo = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - as above

    theme = models.CharField(max_length=10, choices=Theme.choices, default=Theme.LIGHT)
    date_format = models.CharField(max_length=3, choices=DateFormat.choices, default=DateFormat.YMD)
    name_order = models.CharField(max_length=10, choices=NameOrder.choices, default=NameOrder.WESTERN)
    name_sort = models.CharField(
        max_length=10, choices=NameSort.choices, default=NameSort.GIVEN, db_default=NameSort.GIVEN
    )
    name_display_format = models.CharField(
        max_length=20, choices=NameDisplayFormat.choices, default=NameDisplayFormat.FULL
    )
    graph_mode = models.CharField(max_length=20, choices=GraphMode.choices, default=GraphMode.INDIVIDUALS)
    language = models.CharField(max_length=10, default="en")
    geocoding_enabled = models.BooleanField(default=False)

    # Objects with `name` and `query`, as the API shows them.
    saved_lists = models.JSONField(default=list, db_default=[], blank=True)

    time_zone = models.CharField(max_length=64, default="UTC")
    reminder_hour = models.PositiveSmallIntegerField(default=9)
    leap_day_rule = models.CharField(max_length=5, choices=LeapDayRule.choices, default=LeapDayRule.FEB28)
    date_reminder_default = models.CharField(
        max_length=9, choices=DateReminders.choices, default=DateReminders.NONE, db_default=DateReminders.NONE
    )
    default_reminder_lead_days = models.PositiveSmallIntegerField(default=0)
    # {"from": "22:00", "to": "07:00"} by the clocks of the account's zone; null: none.
    quiet_hours = models.JSONField(null=True, blank=True)
    email_reminders_enabled = models.BooleanField(default=True)
    weekly_digest_enabled = models.BooleanField(default=False)
    weekly_digest_weekday = models.PositiveSmallIntegerField(default=1)

    plan = models.CharField(max_length=10, choices=Plan.choices, default=Plan.FREE)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    revision = models.BigIntegerField(default=0, editable=False)
    settings_revision = models.BigIntegerField(default=0, editable=False)
    reminders_stale = models.BooleanField(default=False, editable=False)
    is_mirrored = models.BooleanField(default=False, editable=False)
    is_shared = models.BooleanField(default=False, db_default=False, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [
            one_of(Theme, "theme", name="user_theme_known"),
            one_of(DateFormat, "date_format", name="user_date_format_known"),
            one_of(NameOrder, "name_order", name="user_name_order_known"),
            one_of(NameSort, "name_sort", name="user_name_sort_known"),
            one_of(NameDisplayFormat, "name_display_format", name="user_name_display_format_known"),
            one_of(GraphMode, "graph_mode", name="user_graph_mode_known"),
            one_of(DateReminders, "date_reminder_default", name="user_date_reminder_default_known"),
            one_of(LeapDayRule, "leap_day_rule", name="user_leap_day_rule_known"),
            one_of(Plan, "plan", name="user_plan_known"),
            models.UniqueConstraint(fields=["proven_email_key"], name="user_proven_email_unique"),
            models.CheckConstraint(
                condition=models.Q(proven_email__isnull=True, proven_email_key__isnull=True)
                | models.Q(proven_email__isnull=False, proven_email_key__isnull=False),
                name="user_proven_email_has_key",
            ),
            models.CheckConstraint(
                condition=models.Q(claimed_at__isnull=True) | models.Q(proven_email__isnull=False),
                name="user_claimed_has_proven_email",
            ),
        ]
        indexes = [
            models.Index(fields=["email_key"], name="user_email_key"),
            models.Index(fields=["created_at", "id"], name="user_created"),
            # For the operators' list of accounts.
            models.Index(fields=["plan", "created_at", "id"], name="user_plan"),
            models.Index(fields=["created_at", "id"], name="user_off", condition=models.Q(is_active=False)),
            models.Index(fields=["created_at", "id"], name="user_operators", condition=models.Q(is_staff=True)),
            models.Index(fields=["id"], name="user_reminders_stale", condition=models.Q(reminders_stale=True)),
        ]

    PROFILE_COLUMNS: ClassVar[frozenset[str]] = frozenset(
        {
            *("email", "proven_email", "name", "surname", "nickname", "photo", "plan", "updated_at"),
            *(
                "theme",
                "date_format",
                "name_order",
                "name_sort",
                "name_display_format",
                "graph_mode",
                "language",
                "saved_lists",
            ),
            *("geocoding_enabled", "time_zone", "reminder_hour", "leap_day_rule", "default_reminder_lead_days"),
            *("quiet_hours", "email_reminders_enabled", "weekly_digest_enabled", "weekly_digest_weekday"),
            "date_reminder_default",
            "settings_revision",  # saved alone when the profile shows something of another table
        }
    )

    def save(self, *args: Any, **kwargs: Any) -> None:
        columns = kwargs.get("update_fields")
        if columns is not None:
            columns = kwargs["update_fields"] = {
                *columns,
                *(f"{name}_key" for name in ("email", "proven_email") if name in columns),
            }
        if columns is None or "email" in columns:
            self.email_key = User.objects.fold_email(self.email)
        if columns is None or "proven_email" in columns:
            self.proven_email_key = self._fold_proven_email()
        # A new account gets no revision here: its row, which account_write locks, does not exist yet.
        if not self._state.adding and (columns is None or self.PROFILE_COLUMNS.intersection(columns)):
            self.settings_revision = revision_values(User, self.pk).get("revision", self.settings_revision)
            if columns is not None:
                kwargs["update_fields"] = {*columns, "settings_revision"}
        super().save(*args, **kwargs)

    def set_password(self, raw_password: str | None) -> None:
        super().set_password(None if raw_password is None else normalize_password(raw_password))

    def check_password(self, raw_password: str) -> bool:
        """As `accounts.passwords.is_password`; Django stores a hash anew if its parameters are out of date."""
        normalized = normalize_password(raw_password)
        return super().check_password(normalized) or (
            raw_password != normalized and super().check_password(raw_password)
        )

    def _fold_proven_email(self) -> str | None:
        if self.proven_email is None:
            return None
        key = User.objects.fold_email(self.proven_email)
        shadowed = self.shadowed_key(key, self.pk)
        return shadowed if self.proven_email_key == shadowed else key

    @staticmethod
    def shadowed_key(key: str, user_id: UUID) -> str:
        """The `proven_email_key` of an account whose proven address an older account has in another spelling."""
        return f"{key} {user_id.hex}"

    @property
    def email_verified(self) -> bool:
        """Whether the current address is the proven one."""
        return self.proven_email is not None and User.objects.fold_email(self.email) == User.objects.fold_email(
            self.proven_email
        )

    @property
    def recovery_email(self) -> str:
        """The address for the account's mails and for password resets: the proven one, if there is one."""
        return self.proven_email or self.email

    @property
    def me_person_id(self) -> UUID | None:
        """The person that the user is, as stored now; None where nobody was named, or who was is in the trash."""
        people: Any = apps.get_model("people", "Person")
        found = people.objects.owned_by(self).active().filter(is_me=True)
        key: UUID | None = found.values_list("pk", flat=True).first()
        return key

    @property
    def is_claimed(self) -> bool:
        return self.claimed_at is not None

    @property
    def effective_plan(self) -> str:
        """The plan in effect: without SAAS_MODE every account is PRO."""
        return self.plan if settings.SAAS_MODE else Plan.PRO

    def plan_limit(self, kind: str) -> int | None:
        """How many of `kind` (people, groups, reminders, templates) the plan allows; None for no limit."""
        if not settings.SAAS_MODE:
            return None
        limits: dict[str, int | None] = settings.PLAN_LIMITS.get(self.plan, {})
        return limits.get(kind)


class PendingFileDeletion(models.Model):
    """A file on Django's storage that no row refers to any more. The row is deleted after the file."""

    path = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
