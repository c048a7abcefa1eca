"""HTML pages for users without a client: the home page, and the page of a person."""
