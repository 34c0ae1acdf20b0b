"""The papers that people of the demonstration make of its sales: of finance, compliance, webhooks and loan books."""
