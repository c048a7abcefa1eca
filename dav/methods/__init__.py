"""The methods of HTTP and WebDAV, each a function from request to response."""
