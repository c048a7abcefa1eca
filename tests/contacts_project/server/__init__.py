"""Tests of the web server, which runs in a thread and is reached over real connections."""
