"""The Model Context Protocol (https://modelcontextprotocol.io) at /mcp: the API as tools for assistants (docs/mcp.md).

Tools are made out of the API description and call the routes themselves. The SDK and all that it stands on (55 MB) are
loaded by the first assistant that calls.
"""
