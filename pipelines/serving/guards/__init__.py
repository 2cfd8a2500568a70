"""What stands between a socket and the routes: each guard refuses one kind of request."""
