"""The reports (RFC 3253, 3.6) that the collections offer, each a function from request to response elements."""
