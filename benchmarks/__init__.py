"""Scripts behind the numbers of the pages; `docs/benchmarks.md` has their commands."""
