"""Operations that compose several services: records with all that belongs to them, exports, closing, and checks."""
