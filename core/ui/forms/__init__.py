"""Forms made from request models: questions, widgets, items, files."""
