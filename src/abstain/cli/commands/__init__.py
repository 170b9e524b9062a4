"""One file a command. Its name is the command, its first line the help in a line."""
