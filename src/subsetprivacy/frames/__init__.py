"""Tables and files of any size: read, counted, privatized and written where they are."""
