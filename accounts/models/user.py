"""The account: login, profile, preferences and plan."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models, transaction
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.lifecycle import start_account
from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.ownership.writing import account_write


class Plan(models.TextChoices):
    FREE = "FREE"
    PERSONAL = "PERSONAL"
    PRO = "PRO"


class UserManager(BaseUserManager["User"]):
    """Accounts by e-mail, without regard to case."""

    def fold(self, email: str) -> str:
        """The spelling by which two addresses are the same."""
        return self.normalize_email(email).lower()

    def with_email(self, email: str) -> "models.QuerySet[User]":
        """The account with this address, without regard to case, by the unique index."""
        return self.alias(folded=Lower("email")).filter(folded=self.fold(email))

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.with_email(username or "").get()

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Insert an account. What a new account starts with is made by accounts.services.registration."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """An operator's account, whole: the command line vouches for its address."""
        operator = {"is_staff": True, "is_superuser": True, "email_verified_at": timezone.now()}
        with transaction.atomic():
            user = self.create_user(email, password, **operator, **fields)
            with account_write(user):
                start_account(user)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """One account. `revision` rises with every write to anything it owns (kernel.ownership.writing)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(max_length=254, unique=True)
    email_verified_at = models.DateTimeField(null=True, blank=True)
    name = models.CharField(max_length=100)
    surname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    nickname = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - as above
    photo = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - as above

    theme = models.CharField(max_length=10, default="LIGHT")
    date_format = models.CharField(max_length=3, default="YMD")
    name_order = models.CharField(max_length=10, default="WESTERN")
    name_display_format = models.CharField(max_length=20, default="FULL")
    graph_mode = models.CharField(max_length=20, default="individuals")
    language = models.CharField(max_length=10, default="en")
    geocoding_enabled = models.BooleanField(default=False)

    time_zone = models.CharField(max_length=64, default="UTC")
    reminder_hour = models.PositiveSmallIntegerField(default=9)
    leap_day_rule = models.CharField(max_length=5, default="FEB28")
    default_reminder_lead_days = models.PositiveSmallIntegerField(default=0)
    email_reminders_enabled = models.BooleanField(default=True)
    weekly_digest_enabled = models.BooleanField(default=False)
    weekly_digest_weekday = models.PositiveSmallIntegerField(default=1)

    plan = models.CharField(max_length=10, choices=Plan.choices, default=Plan.FREE)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    revision = models.BigIntegerField(default=0, editable=False)
    reminders_stale = models.BooleanField(default=False, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_unique_without_case")]
        indexes = [
            models.Index(fields=["id"], name="user_reminders_stale", condition=models.Q(reminders_stale=True)),
        ]

    @property
    def email_verified(self) -> bool:
        return self.email_verified_at is not None

    @property
    def effective_plan(self) -> str:
        """The plan that counts: without SAAS_MODE every account is PRO."""
        return self.plan if settings.SAAS_MODE else Plan.PRO

    def plan_limit(self, kind: str) -> int | None:
        """The most `kind` (people, groups, reminders, templates) the plan allows; None: no limit."""
        if not settings.SAAS_MODE:
            return None
        limits: dict[str, int | None] = settings.PLAN_LIMITS.get(self.plan, {})
        return limits.get(kind)
