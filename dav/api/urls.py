"""Routes of dav, all below /api/."""

from rest_framework.routers import SimpleRouter

from dav.api.devices import DeviceViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("user/devices", DeviceViewSet, basename="device")

urlpatterns = router.urls
