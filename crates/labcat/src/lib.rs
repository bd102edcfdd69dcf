//! Locally adaptive Bayesian optimisation of expensive black-box functions.
