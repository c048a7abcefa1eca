"""The routes of this app, all below /api/."""

from rest_framework.routers import SimpleRouter

from accounts.api.views.changes import describe_changes
from contacts_project.kernel.api.errors import register_failures
from people.api.addresses import AddressViewSet, HouseholdViewSet, MapViewSet, SharedAddressViewSet
from people.api.custom_templates import CustomFieldTemplateViewSet, TemplateSerializer
from people.api.deleted import DeletedViewSet, describe_deleted
from people.api.duplicates import DismissalSerializer, DuplicateViewSet, MergeListViewSet, MergeViewSet
from people.api.errors import FAILURES
from people.api.find import FindViewSet
from people.api.groups import GroupSerializer, GroupViewSet
from people.api.important_dates import ImportantDateViewSet, UpcomingViewSet
from people.api.imports import ContactImportViewSet, FileImportViewSet
from people.api.insights import InsightViewSet
from people.api.interactions import InteractionSerializer, InteractionViewSet, PersonInteractionViewSet
from people.api.me_person import MePersonViewSet
from people.api.people import PersonViewSet
from people.api.person_entries import DeletedDateSerializer, ImportantDateSerializer
from people.api.person_serializer import DeletedPersonSerializer, PersonInFeedSerializer
from people.api.photos import PersonPhotoViewSet, PhotoViewSet, UserPhotoViewSet
from people.api.vcard import VCardViewSet
from people.models import CustomFieldTemplate, DuplicateDismissal, Group, ImportantDate, Interaction, Person

register_failures(FAILURES)
describe_changes(
    {
        CustomFieldTemplate: TemplateSerializer,
        Group: GroupSerializer,
        Person: PersonInFeedSerializer,
        ImportantDate: ImportantDateSerializer,
        Interaction: InteractionSerializer,
        DuplicateDismissal: DismissalSerializer,
    }
)
describe_deleted(
    {
        "people": DeletedPersonSerializer,
        "importantDates": DeletedDateSerializer,
        "interactions": InteractionSerializer,
        "groups": GroupSerializer,
        "customFieldTemplates": TemplateSerializer,
    }
)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
# Before people, whose detail route would match `merge` as an id.
router.register("people/merge", MergeViewSet, basename="merge")
router.register("people/merges", MergeListViewSet, basename="merges")
router.register("people", HouseholdViewSet, basename="household")
router.register("people", DuplicateViewSet, basename="duplicate")
router.register("people", PersonViewSet, basename="person")
router.register("people", SharedAddressViewSet, basename="shared-address")
router.register("people", PersonPhotoViewSet, basename="person-photo")
router.register("people/<id:person_id>/important-dates", ImportantDateViewSet, basename="important-date")
router.register("people/<id:person_id>/interactions", PersonInteractionViewSet, basename="person-interaction")
router.register("addresses", AddressViewSet, basename="address")
router.register("interactions", InteractionViewSet, basename="interaction")
router.register("groups", GroupViewSet, basename="group")
router.register("custom-field-templates", CustomFieldTemplateViewSet, basename="custom-field-template")
router.register("deleted", DeletedViewSet, basename="deleted")
router.register("find", FindViewSet, basename="find")
router.register("import", FileImportViewSet, basename="file-import")
router.register("imports", ContactImportViewSet, basename="contact-import")
router.register("insights", InsightViewSet, basename="insight")
router.register("map", MapViewSet, basename="map")
router.register("photos", PhotoViewSet, basename="photo")
router.register("user", UserPhotoViewSet, basename="user-photo")
router.register("user", MePersonViewSet, basename="me-person")
router.register("vcard", VCardViewSet, basename="vcard")
router.register("upcoming", UpcomingViewSet, basename="upcoming")

urlpatterns = router.urls
