"""Ollama's interface: chat, one prompt, and the lists of models."""
