"""What `fit` returns: draws that are kept, where the arms stand in them, answers."""
