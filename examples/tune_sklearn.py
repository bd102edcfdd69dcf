"""Tune a scikit-learn model: a support vector machine with two parameters of unknown magnitude."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import labcat

X, y = load_breast_cancer(return_X_y=True)

# Only the order of magnitude of these matters, so their logarithm is searched.
space = labcat.Space(
    C=labcat.Real(1e-3, 1e3, scale="log"),
    gamma=labcat.Real(1e-6, 1e1, scale="log"),
)


def score(C, gamma):
    """The mean area under the ROC curve in five-fold cross-validation.

    It changes with almost every change of the parameters; the accuracy would stay the same over
    wide areas, and equal values tell an optimiser little.
    """
    model = make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma))
    return cross_val_score(model, X, y, cv=5, scoring="roc_auc").mean()


untuned = score(C=1.0, gamma=1.0)
result = labcat.maximize(score, space, budget=30, rng=1)

print(f"untuned: area under the curve {untuned:.4f}")
best = ", ".join(f"{name} = {value:.3g}" for name, value in result.params.items())
print(f"tuned:   area under the curve {result.fun:.4f} with {best}")
