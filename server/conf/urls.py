"""The addresses of the web site: Evennia's own and its admin pages."""

from django.urls import include, path
from evennia.web.urls import urlpatterns as evennia_patterns

# Without the admin pages every page fails for staff, because it links to them.
urlpatterns = [path("admin/", include("evennia.web.admin.urls")), *evennia_patterns]
