"""Studies: the policies of this package ask real judges.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.lazy import lazily

if TYPE_CHECKING:
    from bayesduel.studies.forecast import Forecast
    from bayesduel.studies.soundness import Soundness, check_study
    from bayesduel.studies.status import StudyStatus
    from bayesduel.studies.study import Study
    from bayesduel.studies.tickets import Ticket

_HOMES = {
    "Forecast": ".forecast",
    "Soundness": ".soundness",
    "Study": ".study",
    "StudyStatus": ".status",
    "Ticket": ".tickets",
    "check_study": ".soundness",
}

_GONE = {"Soundness": "IntegrityReport"}

__all__ = [
    "Forecast",
    "Soundness",
    "Study",
    "StudyStatus",
    "Ticket",
    "check_study",
]

__getattr__, __dir__ = lazily(__name__, _HOMES, _GONE)
