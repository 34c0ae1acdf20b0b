"""Claims: lodged, reviewed, moved, asked about, offered, paid; queue, clock and figures of the claims desk."""
