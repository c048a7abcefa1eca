"""The Model Context Protocol (https://modelcontextprotocol.io) at /mcp: the API as tools for assistants (docs/mcp.md).

Tools are derived from the API description, and a tool call is a request to its route. The SDK with its dependencies
(55 MB of memory) is imported at the first request of an assistant.
"""
