"""`spanwise serve`: a library over HTTP, and the page to ask it."""
