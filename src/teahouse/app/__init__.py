"""Where everything is put together: the one place that knows every part."""
