"""What operators do with accounts: look, change the plan, switch off. The data of accounts are not theirs to see."""

from django import forms
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import Group
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User
from accounts.services.credentials import check_credentials
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write


class OperatorLoginForm(AdminAuthenticationForm):
    """Signs in to the admin under the same budgets and with the same second factor as the API does."""

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
                raise forms.ValidationError(error.message) from None
            self.confirm_login_allowed(self.user_cache)
        return data


admin.site.login_form = OperatorLoginForm
admin.site.login_template = "account/operator_login.html"


@admin.register(User)
class UserAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django cannot subscript it at run time
    """Accounts are made by registration and deleted by their owners."""

    list_display = ("email", "name", "plan", "is_active", "is_staff", "email_verified", "created_at", "last_login")
    list_filter = ("plan", "is_active", "is_staff")
    search_fields = ("email", "proven_email", "name", "surname")
    ordering = ("-created_at",)
    readonly_fields = ("email", "proven_email", "claimed_at", "name", "surname", "created_at", "last_login")
    editable_fields = ("plan", "is_active", "is_staff", "is_superuser")
    fields = (*readonly_fields, *editable_fields)

    @admin.display(boolean=True)
    def email_verified(self, user: User) -> bool:
        return user.email_verified

    def save_model(self, request: HttpRequest, obj: User, form: object, change: bool) -> None:
        """Only what the form asks for: the owner may have written the rest, a password too, since it was read."""
        with account_write(obj):
            obj.save(update_fields=[*self.editable_fields, "updated_at"])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


# Groups of permissions are of no use here, and their name would be taken for the users' groups of people.
admin.site.unregister(Group)
