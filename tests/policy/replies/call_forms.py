"""Forms in which models write calls into their text: of chat templates, and home-made ones.

In ``call_forms.json``, $name is the tool's; $args are its arguments as JSON, $python as in Python;
$call is both as one object. What stands between « and » comes for each argument: KEY and VALUE.
"""

import json
import re
from pathlib import Path
from string import Template

FORMS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def written(form, name, given):
    """Return the text of a call."""
    parts = iter(re.findall("«(.*?)»", form, re.DOTALL))
    text = Template(re.sub("«.*?»", "\0", form, flags=re.DOTALL)).substitute(
        name=name,
        args=json.dumps(given, ensure_ascii=False),
        python=", ".join(f"{key}={value!r}" for key, value in given.items()),
        call=json.dumps({"name": name, "arguments": given}, ensure_ascii=False),
    )

    def fields(_mark):
        part = next(parts)
        rows = (part.replace("KEY", key).replace("VALUE", value) for key, value in given.items())
        return "".join(rows)

    return re.sub("\0", fields, text)
