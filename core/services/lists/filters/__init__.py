"""The declaration of a list's filters: fields, and all that follows from them."""
