"""What every store must do, whatever engine it stands on.

A test module subclasses `StoreContract` and gives it two fixtures, `open_again` and `kept`.
"""

from __future__ import annotations

from teahouse.testing.contract.store_approvals import ApprovalsContract
from teahouse.testing.contract.store_files import FilesContract
from teahouse.testing.contract.store_house import AnyStore, Kept, OpenAgain
from teahouse.testing.contract.store_log import LogContract
from teahouse.testing.contract.store_people import PeopleContract
from teahouse.testing.contract.store_queue import QueueContract

__all__ = ["AnyStore", "Kept", "OpenAgain", "StoreContract"]


class StoreContract(LogContract, QueueContract, PeopleContract, FilesContract, ApprovalsContract):
    """All suites together. `pytestmark = pytest.mark.anyio` is the subclass's business."""
