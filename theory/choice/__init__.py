"""Choice out of subsets: rules, tables of probabilities, notions of regret."""
