"""What scripts of several subjects share: tables, protocols, measures, ranks, runs of a csv."""
