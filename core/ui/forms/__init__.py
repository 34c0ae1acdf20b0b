"""Forms generated from request models: questions, widgets, item lists, files."""
