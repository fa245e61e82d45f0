"""Anthropic's interface: Messages, and the counting of their tokens."""
