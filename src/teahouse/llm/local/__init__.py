"""The model on this machine: its file, the child process that holds it, and the provider."""
