"""States of claims, policies and insurer submissions, each declared once with its transitions."""
