"""Generated texts: how near they are to references, and how varied."""
