"""Suites that every implementation of a port passes, fakes and other people's included."""
