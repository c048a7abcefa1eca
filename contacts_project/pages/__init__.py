"""HTML pages: the home page, labels to print, and the client in the browser."""
