"""The screens of the desk: page frame, forms built from models, tables, charts and dialogs."""
