"""WebDAV as real servers implement it (RFC 4918): sessions with a login, redirects, multistatus. Clients of one kind of
server, such as carddav's, stand on it."""
