"""The sign-in form of the admin, and the list of queued mails. Accounts are in contacts_project/admin/lists.py."""

from django import forms
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import AccountMail, MailKind
from accounts.services.sign_in import check_credentials
from contacts_project.kernel.admin import OperatorAdmin, WordFilter
from contacts_project.kernel.errors import DomainError


class OperatorLoginForm(AdminAuthenticationForm):
    """Signs in to the admin with the same rate limits and second factor as the API."""

    code = forms.CharField(required=False, max_length=100, label="Code, if the account asks for one")

    def clean(self) -> dict[str, object]:
        request, data = self.request, self.cleaned_data
        if request is not None and data.get("username") and data.get("password"):
            try:
                self.user_cache = check_credentials(
                    request=request,
                    email=data["username"],
                    password=data["password"],
                    code=data.get("code"),
                    now=timezone.now(),
                )
            except DomainError as error:
                raise forms.ValidationError(str(error.message)) from None
            self.confirm_login_allowed(self.user_cache)
        return data


class MailKindFilter(WordFilter[AccountMail]):
    title, parameter_name = "kind", "kind"
    words = tuple(MailKind.choices)
    column = "kind"


class TriesFilter(WordFilter[AccountMail]):
    title, parameter_name = "tries", "tries"
    words = (("new", "not tried yet"), ("failed", "failed so far"))

    def narrow(self, rows: QuerySet[AccountMail], value: str) -> QuerySet[AccountMail]:
        return rows.filter(tries=0) if value == "new" else rows.filter(tries__gt=0)


@admin.register(AccountMail)
class AccountMailAdmin(OperatorAdmin):
    """The outbox. A mail disappears once it is sent. It shows no link: that is only created when the mail is sent."""

    list_display = ("kind", "address", "account", "tries", "next_try_at", "created_at")
    list_filter = (MailKindFilter, TriesFilter)
    ordering = ("next_try_at",)
    fields = readonly_fields = (*list_display, "held_until")


admin.site.login_form = OperatorLoginForm

# Django's permission groups are not used, and could be mistaken for the users' groups of people.
admin.site.unregister(Group)
