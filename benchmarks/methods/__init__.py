"""The methods that are compared, and the processes that fit them in other environments."""
