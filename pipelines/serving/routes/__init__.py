"""The routes of the server, a router to each file."""
