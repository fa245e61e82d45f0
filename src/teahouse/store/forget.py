"""Deleting for good: rows, files that nothing names any more, and a note of bytes to remove."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, insert, select

from teahouse.store.schema import conversation, doomed_blob, file, member, person, post_file


def delete_conversation(connection: Connection, conversation_id: str) -> None:
    """Posts, runs, journals and members go with it by their foreign keys."""
    shown = select(post_file.c.file).where(post_file.c.conversation == conversation_id)
    files = list(connection.execute(shown.distinct()).scalars())
    connection.execute(delete(conversation).where(conversation.c.id == conversation_id))
    for each in files:
        _delete_files(connection, file.c.id == each)


def delete_person(connection: Connection, person_id: str) -> None:
    """Conversations that are nobody else's go too; in others what the person wrote stays."""
    mine = select(member.c.conversation).where(member.c.participant == person_id)
    other = member.alias("other")
    shared = exists().where(
        other.c.conversation == member.c.conversation,
        other.c.kind == "person",
        other.c.participant != person_id,
    )
    for each in list(connection.execute(mine.where(~shared)).scalars()):
        delete_conversation(connection, each)
    connection.execute(delete(member).where(member.c.participant == person_id))
    _delete_files(connection, file.c.person == person_id)
    connection.execute(delete(person).where(person.c.id == person_id))


def _delete_files(connection: Connection, which: ColumnElement[bool]) -> None:
    """Delete those of the files that no post shows, and note their bytes for `BlobFiles.sweep`."""
    unseen = and_(which, ~exists().where(post_file.c.file == file.c.id))
    rows = connection.execute(select(file.c.id, file.c.sha256).where(unseen)).all()
    for row in rows:
        connection.execute(delete(file).where(file.c.id == row.id))
        connection.execute(delete(doomed_blob).where(doomed_blob.c.sha256 == row.sha256))
        connection.execute(insert(doomed_blob).values(sha256=row.sha256))
