"""Studies: the policies of this package ask real judges.

Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING

from bayesduel.package.lazy import lazy_attributes

if TYPE_CHECKING:
    from bayesduel.studies.contents.contexts import ContextTable, Items
    from bayesduel.studies.forecast import Forecast
    from bayesduel.studies.integrity import (
        IntegrityReport,
        VerifiedQuestions,
        check_study,
        verify_study,
    )
    from bayesduel.studies.status import StudyStatus
    from bayesduel.studies.study import Study
    from bayesduel.studies.terms import Judging, Spending
    from bayesduel.studies.tickets import Ticket

_HOMES = {
    "ContextTable": ".contents.contexts",
    "Forecast": ".forecast",
    "IntegrityReport": ".integrity",
    "Items": ".contents.contexts",
    "Judging": ".terms",
    "Spending": ".terms",
    "Study": ".study",
    "StudyStatus": ".status",
    "Ticket": ".tickets",
    "VerifiedQuestions": ".integrity",
    "check_study": ".integrity",
    "verify_study": ".integrity",
}

_GONE = {"Soundness": "IntegrityReport"}

__all__ = [
    "ContextTable",
    "Forecast",
    "IntegrityReport",
    "Items",
    "Judging",
    "Spending",
    "Study",
    "StudyStatus",
    "Ticket",
    "VerifiedQuestions",
    "check_study",
    "verify_study",
]

__getattr__, __dir__ = lazy_attributes(__name__, _HOMES, _GONE)
