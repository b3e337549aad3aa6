"""What constraints are, as JSON."""

from __future__ import annotations

from svyaz.constraints import Classification
from svyaz.json_types import Record
from svyaz.show.results import as_json


@as_json.register(Classification)
def _(found: Classification) -> Record:
    record: Record = {
        "name": found.name,
        "kind": found.kind,
        "time_dependent": found.time_dependent,
        "linear": found.linear,
        "order": found.order,
        "row_wise": found.row_wise,
    }
    if found.integral is not None:
        record["integral"] = str(found.integral)
    if found.remark:
        record["remark"] = found.remark
    return record
