"""HTTP server: the page, the JSON interface, and the protection of both."""
