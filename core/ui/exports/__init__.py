"""The screens of exports: buttons, progress, receipts."""
