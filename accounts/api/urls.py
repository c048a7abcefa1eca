"""URL patterns of this app, all below /api/."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from accounts.api.errors import FAILURES
from accounts.api.views.batch import BatchViewSet
from accounts.api.views.changes import ChangeViewSet
from accounts.api.views.oidc import OidcViewSet
from accounts.api.views.preferences import QuietHoursViewSet, preference_views
from accounts.api.views.profile import DeletionViewSet, ProfileViewSet
from accounts.api.views.second_factor import SecondFactorViewSet
from accounts.api.views.sessions import SessionViewSet, SignedInViewSet, SignInViewSet
from accounts.api.views.tokens import ApiTokenViewSet, AppCodeViewSet, DeviceTokenViewSet
from accounts.api.views.transfer import TransferViewSet
from accounts.api.views.verification import VerificationViewSet
from contacts_project.kernel.api.errors import register_failures

register_failures(FAILURES)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("auth", SignInViewSet, basename="sign-in")
router.register("auth", SignedInViewSet, basename="signed-in")
router.register("auth", DeviceTokenViewSet, basename="device-token")
router.register("auth", VerificationViewSet, basename="verification")
router.register("auth", OidcViewSet, basename="oidc")
router.register("auth", AppCodeViewSet, basename="app-code")
router.register("user", ProfileViewSet, basename="profile")
router.register("user", DeletionViewSet, basename="deletion")
router.register("user", TransferViewSet, basename="transfer")
router.register("user/sessions", SessionViewSet, basename="session")
router.register("user/mfa", SecondFactorViewSet, basename="second-factor")
router.register("user/api-tokens", ApiTokenViewSet, basename="api-token")

router.register("batch", BatchViewSet, basename="batch")
router.register("changes", ChangeViewSet, basename="change")

urlpatterns = [
    *router.urls,
    *preference_views(),
    path("user/quiet-hours", QuietHoursViewSet.as_view({"put": "update"})),
]
