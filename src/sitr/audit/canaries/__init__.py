"""Audits of a trained model from the scores of canaries: records that were put into the training data, or left out."""
