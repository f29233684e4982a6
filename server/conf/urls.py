"""The web site's addresses: Evennia's, and its admin, which a generated game adds by itself."""

from django.urls import include, path
from evennia.web.urls import urlpatterns as evennia_patterns

# The admin comes first: without it every page fails for staff, who are shown a link to it.
urlpatterns = [path("admin/", include("evennia.web.admin.urls")), *evennia_patterns]
