"""Tune a scikit-learn model: which kind of model, integers, and parameters that only one kind has."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import labcat

X, y = load_breast_cancer(return_X_y=True)
FORESTS = {"extra trees": ExtraTreesClassifier, "random forest": RandomForestClassifier}
A_FOREST = {"model": list(FORESTS)}
A_MACHINE = {"model": "support vectors"}

space = labcat.Space(
    model=labcat.Categorical([*FORESTS, "support vectors"]),
    # Only while the model is a forest:
    depth=labcat.Integer(1, 16, when=A_FOREST),
    leaf=labcat.Integer(1, 32, scale="log", when=A_FOREST),
    bootstrap=labcat.Boolean(when=A_FOREST),
    # Only while it is a support vector machine; of these the order of magnitude matters.
    C=labcat.Real(1e-3, 1e3, scale="log", when=A_MACHINE),
    gamma=labcat.Real(1e-6, 1e1, scale="log", when=A_MACHINE),
    trees=labcat.Fixed(25, when=A_FOREST),
)


def classifier(params):
    params = dict(params)
    model = params.pop("model")
    if model == "support vectors":
        return make_pipeline(StandardScaler(), SVC(**params))
    return FORESTS[model](
        n_estimators=params["trees"],
        max_depth=params["depth"],
        min_samples_leaf=params["leaf"],
        bootstrap=params["bootstrap"],
        random_state=0,
    )


def score(params):
    """The mean area under the ROC curve in three-fold cross-validation.

    It changes with almost every change of the parameters; the accuracy would stay the same over
    wide areas, and equal values tell an optimiser little.
    """
    return cross_val_score(classifier(params), X, y, cv=3, scoring="roc_auc").mean()


# The search begins with what one would take without it.
usual = {"model": "support vectors", "C": 1.0, "gamma": 1 / X.shape[1]}
untuned = score(usual)
result = labcat.maximize(score, space, x0=usual, budget=60, rng=1)

print(f"untuned: area under the curve {untuned:.4f}")
shown = {name: f"{v:.3g}" if isinstance(v, float) else v for name, v in result.params.items()}
best = ", ".join(f"{name} = {value}" for name, value in shown.items())
print(f"tuned:   area under the curve {result.fun:.4f} with {best}")
