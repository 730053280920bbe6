"""From the scores of boosted trees to curves of survival."""
