"""Uploaded files: inspected, stored, linked to, served."""
