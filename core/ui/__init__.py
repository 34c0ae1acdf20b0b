"""What screens share: the frame around every page, forms from models, words and colours."""
