"""The file system: what it refuses, and how to be sure that it has kept something."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from teahouse.core.errors import StorageFull

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def refused_by_disk() -> Generator[None]:
    """Turn the errors of a disk that takes no more into `StorageFull`."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StorageFull("storage_full") from error
        raise


def sync_folder(folder: Path) -> None:
    """Make it durable which names a folder holds; a file's own fsync does not."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
