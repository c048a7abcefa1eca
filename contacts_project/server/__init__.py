"""The web server: uvicorn's HTTP/1.1 on one event loop, and the WSGI application in worker threads (docs/running.md).

All waiting for clients happens on the event loop. A request gets a thread once its whole body has been received, and
returns the thread as soon as its response is complete. So slow clients and event streams occupy no thread.
"""
