"""The web server: uvicorn's HTTP/1.1 on one event loop, the WSGI application in threads behind it (docs/running.md).

What waits for a client waits on the loop: a request gets a thread once all of it is here, and gives it back once its
answer is made. Clients that send or read slowly hold no thread, and streams of events neither.
"""
