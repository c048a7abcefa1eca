"""The house's WebDAV client, as real servers implement RFC 4918: sessions with a login, redirects, multistatus,
discovery, and collections with their changes (RFC 6578). What differs between address books and calendars is a
CollectionKind."""
