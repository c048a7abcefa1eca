"""The CardDAV client: RFC 6352 and RFC 6578 as real servers implement them."""
