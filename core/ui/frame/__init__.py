"""What surrounds every screen: sign-in state, menu, header, palette, and what stands where a page cannot be shown."""
