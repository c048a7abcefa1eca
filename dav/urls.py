"""The paths of the DAV server, at the root of the service: programs look for them there."""

from django.urls import path, re_path

from dav.views import dav_view, well_known

#: What programs ask for once they know it.
tree = re_path(r"^dav(?:/(?P<path>[\s\S]*))?\Z", dav_view)
urlpatterns = [
    path("principals", dav_view),
    path("principals/", dav_view),
    path(".well-known/carddav", well_known),
    path(".well-known/caldav", well_known),
]
