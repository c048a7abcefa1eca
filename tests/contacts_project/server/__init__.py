"""The web server, over real connections to one that runs in a thread of the tests."""
