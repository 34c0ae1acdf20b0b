"""Claims of every line of cover: what is asked, which documents an incident requires, and what is checked."""
