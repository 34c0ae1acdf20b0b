"""Coverdesk: the desk and the counter of an insurance distribution business."""
