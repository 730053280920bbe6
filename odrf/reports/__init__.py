"""Reports: the objects, tables and texts that methods of results return, made from fits."""
