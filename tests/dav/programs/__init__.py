"""Programs of others that tests/dav/test_real_clients.py runs, each headless and with folders of its own."""
