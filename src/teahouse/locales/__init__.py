"""The texts of page, CLI, errors and prompts, one folder a language."""
