"""The choice of a request form."""

from __future__ import annotations

from collections.abc import Mapping

from evennia_ai.policy.request_forms.form import AUTO, RequestForm
from evennia_ai.policy.request_forms.known_models import form_for
from evennia_ai.policy.request_forms.plain_forms import TEXT_FORM, TOOLS_FORM
from evennia_ai.policy.request_forms.schema_form import SchemaForm

REQUEST_FORMS: Mapping[str, RequestForm] = {
    form.name: form for form in (TOOLS_FORM, SchemaForm(), TEXT_FORM)
}


def choose_form(model: str, wanted: str = AUTO, told: str = "") -> RequestForm:
    """Return the form for a model.

    ``wanted`` is the profile's own; ``told`` is what a probe found, "" if it ran for none. If both
    are silent, the model's name decides.
    """
    name = wanted if wanted in REQUEST_FORMS else told or form_for(model)
    return REQUEST_FORMS.get(name, TOOLS_FORM)
