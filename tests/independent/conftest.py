"""What pytest does not read here: a script of packages that the tests do not need."""

collect_ignore = ["survival_anchors.py"]
