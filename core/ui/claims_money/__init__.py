"""The money of claims on screens: what finance pays, and loss ratios."""
