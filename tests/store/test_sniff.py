"""What a file is, by its own first bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teahouse.store.sniff import LOOKS_AT, media_type


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "application/octet-stream"),
        (b"%PDF-1.7", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"", "text/plain"),
        ("茶馆".encode(), "text/plain"),
        (("茶" * 2000).encode()[:LOOKS_AT], "text/plain"),  # cut within a character
        ("茶馆".encode()[:-1], "application/octet-stream"),
        ("茶馆".encode("gb18030"), "application/octet-stream"),
        (b"a\0b", "application/octet-stream"),
        (b"<!DOCTYPE HTML><p>", "text/html"),
        (b"\xef\xbb\xbf \n<html>", "text/html"),
        (b"<svg onload=alert(1)>", "text/html"),
        (b"<?xml version='1.0'?><svg/>", "text/html"),
        (b"<script>", "text/html"),
        (b"a < b", "text/plain"),
    ],
)
def test_the_bytes_tell_the_type(start: bytes, expected: str) -> None:
    assert media_type(start) == expected


@given(st.binary(max_size=64))
def test_anything_has_a_type(start: bytes) -> None:
    assert "/" in media_type(start)
