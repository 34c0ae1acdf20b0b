"""The frame of every screen: sign-in state, menu, header, palette, and the page shown in place of a refused one."""
