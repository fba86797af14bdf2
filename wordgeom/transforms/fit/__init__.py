"""Linear maps fitted to word pairs with scores, their penalty chosen by cross-validation."""
