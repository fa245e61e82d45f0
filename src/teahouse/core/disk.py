"""The file system: what it refuses, and how to be sure that it has kept something."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from teahouse.core.errors import StorageFull

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def refused_by_disk() -> Generator[None]:
    """Turn the errors of a disk that takes no more into `StorageFull`."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StorageFull("storage_full") from error
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Write so that a crash leaves the old content or the new, durably, for its owner alone.

    A link is replaced, not followed. Raises `OSError`; then the old content is there.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make it durable which names a folder holds; a file's own fsync does not."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
