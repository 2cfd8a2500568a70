"""Files are parsed in child processes, whose memory and time are limited and whose answers are checked."""
