"""What settled options and defaults: families, kinds of trees, sizes, steps, honesty, order."""
