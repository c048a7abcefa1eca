"""The client in the browser (clients/web): journeys in Chromium against the whole service, with its own policy."""
