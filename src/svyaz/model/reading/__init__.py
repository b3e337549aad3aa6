"""Reading models: from the words of a file to statements, with every mistake at its place."""
