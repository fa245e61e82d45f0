"""OpenAI's interface: chat, Responses, and what is asked of models besides a reply."""
