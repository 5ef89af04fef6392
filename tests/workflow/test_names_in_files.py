"""Types in model files go by registered names: every kernel and estimator is read again, and so are older files."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import semikpca
from semikpca import (
    ConvexKernelPCA,
    LSSVMClassifier,
    LSSVMRegressor,
    SemiKPCAClassifier,
    SemiKPCAClassifierCV,
    SemiKPCARegressor,
    SemiKPCARegressorCV,
    SemiLSSVMClassifier,
    kernels,
)
from semikpca.blending import Blend
from semikpca.exceptions import ModelFileError
from semikpca.kernels import (
    RBF,
    CallableKernel,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    NeighborGraph,
    Normalized,
    Nystroem,
    OnColumns,
    Polynomial,
    Precomputed,
)
from semikpca.labeling import suggest_labels
from semikpca.labels import encode
from semikpca.losses import LogCosh, PseudoHuber
from semikpca.tables import read_table
from semikpca.workflow import load_model
from semikpca.workflow._migrations import FORMAT_1_NAMES, FORMAT_VERSION, FormerType
from semikpca.workflow._objects import RefusedTypesError, read_objects, write_objects
from semikpca.workflow._registry import FOREIGN_TYPES, Kind, registered_types

MODELS = Path(__file__).parent / "models"
EARLIER = {"default-kernels": 1, "named-kernels": 1, "more-kernels": 1, "format-2": 2, "format-3": 3}  # with formats
# Sums over rows in another order: a loaded graph finds its neighbors again, and products go in other blocks.
REORDERED_SUMS = 1e-9
# What the older version answered, and what this one does: the same formulas on the same float32 rows.
ACROSS_VERSIONS = 1e-6
ACROSS_FITS = 1e-6  # the tolerance of solves

KERNELS = {
    "RBF": RBF(gamma=0.5),
    "Laplacian": Laplacian(gamma=0.5),
    "Polynomial": Polynomial(degree=2),
    "Linear": Linear(center=True),
    "Cosine": Cosine(),
    "NeighborGraph": NeighborGraph(n_neighbors=6),
    "NeighborGraph, Mahalanobis": NeighborGraph(n_neighbors=6, metric="mahalanobis"),
    "NeighborGraph, centered cosine": NeighborGraph(n_neighbors=6, metric="centered cosine"),
    "Normalized": Normalized(RBF(gamma=0.5)),
    "Nystroem": Nystroem(Laplacian(gamma=0.5), n_landmarks=20, random_state=0),
    "OnColumns": OnColumns(NeighborGraph(n_neighbors=6), columns=[0, 2]),
    "Precomputed": Precomputed(),
}
ESTIMATORS = {
    "ConvexKernelPCA": ConvexKernelPCA(n_components=2, kernel="rbf"),
    "LSSVMClassifier": LSSVMClassifier(),
    "LSSVMRegressor": LSSVMRegressor(),
    "SemiKPCAClassifier": SemiKPCAClassifier(),
    "SemiKPCAClassifierCV": SemiKPCAClassifierCV(),
    "SemiKPCARegressor": SemiKPCARegressor(),
    "SemiKPCARegressorCV": SemiKPCARegressorCV(),
    "SemiLSSVMClassifier": SemiLSSVMClassifier(),
}
HOLD_A_FUNCTION = {"CallableKernel"}  # of the user's, which no file may bring


class Wave(Kernel):
    """A kernel of somebody else's."""

    def __init__(self, width=1.0):
        self.width = width

    def pairwise(self, A, B):
        return RBF(gamma=self.width).pairwise(A, B)

    def diag(self, A):
        return np.ones(len(A))


@pytest.fixture(scope="module")
def data():
    """Rows, all their classes, the classes of a few, and new rows."""
    generator = np.random.default_rng(4)
    codes = np.arange(60) % 3
    X = 3 * np.eye(3)[codes] + generator.normal(size=(60, 3))
    return X, codes, np.where(np.arange(60) < 15, codes, -1), X[:10] + 0.1


def read_again(objects):
    return read_objects(write_objects(objects))


def answers(model, X):
    method = next(name for name in ("decision_function", "transform", "predict") if hasattr(model, name))
    return getattr(model, method)(X)


# -- every public type -----------------------------------------------------------------------------------------


def test_every_public_kernel_has_a_case_here():
    public = {name for name in kernels.__all__ if isinstance(getattr(kernels, name), type)}
    public = {name for name in public if issubclass(getattr(kernels, name), Kernel)} - {"Kernel", "ProductKernel"}
    assert public == {type(kernel).__name__ for kernel in KERNELS.values()} | HOLD_A_FUNCTION


def test_every_public_estimator_has_a_case_here():
    assert set(semikpca.__all__) == set(ESTIMATORS)


@pytest.mark.parametrize("make", [SemiKPCAClassifier, lambda kernel: SemiKPCAClassifierCV([kernel])])
@pytest.mark.parametrize("name", KERNELS)
def test_a_model_with_any_kernel_is_read_again(name, make, data):
    X, _, few, new = data
    kernel = KERNELS[name]
    if name == "Precomputed":
        X, new = X @ X.T, new @ X.T
    model = make(kernel).fit(X, few)
    wanted = answers(model, new)  # before it is written: what answers prepare must not be in the way
    np.testing.assert_allclose(answers(read_again(model), new), wanted, atol=REORDERED_SUMS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_read_again(name, data):
    X, codes, few, new = data
    y = codes if name == "LSSVMClassifier" else few if name.endswith(("Classifier", "ClassifierCV")) else X[:, 0]
    model = ESTIMATORS[name].fit(X, y)
    wanted = answers(model, new)
    np.testing.assert_allclose(answers(read_again(model), new), wanted, atol=REORDERED_SUMS)


@pytest.mark.parametrize("name", ["SemiKPCARegressor", "SemiKPCARegressorCV"])
def test_a_regressor_that_was_read_takes_numbers_and_knows_how_sure_it_is(name, data):
    X, _, _, new = data
    y = np.where(np.arange(len(X)) % 3 == 0, X[:, 0], np.nan)
    model = clone(ESTIMATORS[name]).fit(X, y)
    suggest_labels(model, 2)
    loaded = read_again(model)
    np.testing.assert_array_equal(loaded.suggested_rows_, model.suggested_rows_)
    for found, wanted in zip(loaded.predict(new, return_std=True), model.predict(new, return_std=True), strict=True):
        np.testing.assert_allclose(found, wanted, atol=REORDERED_SUMS)
    for each in (loaded, model):
        each.add_labels([1, 4], X[[1, 4], 0])
    np.testing.assert_allclose(loaded.transduction_, model.transduction_, atol=ACROSS_FITS * np.abs(X).max())


def test_a_kernel_of_somebody_else_is_read_where_it_is_known(data):
    X, _, few, new = data
    model = SemiKPCAClassifierCV([Wave(width=0.5)]).fit(X, few)
    np.testing.assert_allclose(answers(read_again(model), new), answers(model, new), atol=REORDERED_SUMS)


# -- names -----------------------------------------------------------------------------------------------------


def schema_of(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        return members.read("schema.json").decode()


def with_schema(archive, schema):
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as before, zipfile.ZipFile(changed, "w") as after:
        for name in before.namelist():
            after.writestr(name, schema if name == "schema.json" else before.read(name))
    return changed.getvalue()


def test_no_module_of_the_package_stands_in_a_file(data):
    X, _, few, _ = data
    for model in (SemiKPCAClassifierCV().fit(X, few), SemiKPCAClassifier().fit(X, few)):
        assert "semikpca." not in schema_of(write_objects(model))


def test_an_unknown_kernel_is_named_with_what_to_do(data):
    archive = write_objects(Wave())
    archive = with_schema(archive, schema_of(archive).replace('"Wave"', '"Ripple"'))
    with pytest.raises(RefusedTypesError, match=r"the kernel 'Ripple', which is not known here; import the module"):
        read_objects(archive)


def test_an_unknown_state_is_named():
    archive = write_objects({"kernel": RBF()})
    archive = with_schema(archive, schema_of(archive).replace("semikpca kernel", "semikpca state"))
    with pytest.raises(RefusedTypesError, match="'RBF', which this version of semikpca does not know"):
        read_objects(archive)


@pytest.mark.parametrize("path", ["semikpca.kernels._pairwise", "semikpca.kernels", "semikpca"])
def test_modules_of_the_package_are_no_names(path):
    archive = write_objects({"kernel": RBF()})
    archive = with_schema(archive, schema_of(archive).replace("semikpca kernel", path))
    for number in (2, 1) if path != "semikpca.kernels._pairwise" else (2,):
        with pytest.raises(RefusedTypesError, match=f"'{path}.RBF', which no model holds"):
            read_objects(archive, number)


def inner_product(a, b):
    return float(a @ b)


def test_a_function_is_refused_before_a_file_is_written():
    with pytest.raises(ModelFileError, match=r"inner_product.*Use kernels that are classes"):
        write_objects(CallableKernel(inner_product))


def test_a_kernel_inside_a_function_is_refused_before_a_file_is_written():
    class Hidden(Wave):
        pass

    with pytest.raises(ModelFileError, match=r"Hidden.*defined in a module"):
        write_objects(Hidden())


def test_registered_types_are_classes_and_have_one_name_each():
    types = registered_types()
    assert all(isinstance(found, type) for found in types.values())
    assert len(set(types.values())) == len(types)
    assert not any(name.startswith("semikpca") for name in FOREIGN_TYPES)


# -- files of earlier formats -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EARLIER)
def test_a_file_of_an_earlier_format_answers_as_the_version_that_wrote_it(name):
    assert (MODELS / f"{name}.semikpca").read_bytes().startswith(b"semikpca model, format %d\n" % EARLIER[name])
    loaded = load_model(MODELS / f"{name}.semikpca")
    table = read_table(MODELS / "visits.csv")
    wanted = json.loads((MODELS / f"{name}.json").read_text())
    X = loaded.vectorizer.transform(table.features[list(loaded.feature_names)])
    assert loaded.model.predict(X).tolist() == wanted["labels"]
    chances = loaded.model.predict_proba(X).max(axis=1)
    np.testing.assert_allclose(chances, wanted["confidences"], atol=ACROSS_VERSIONS)
    assert loaded.predict_table(table)["predicted_label"].tolist() == wanted["labels"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_a_file_of_format_1_is_read_with_kernels_in_its_results():
    model = load_model(MODELS / "default-kernels.semikpca").model
    assert all(isinstance(kernel, Kernel) for kernel in model.results_["kernel"])
    assert isinstance(model.best_params_["kernel"], Kernel)


def test_every_earlier_format_has_a_file():
    assert set(EARLIER.values()) == set(range(1, FORMAT_VERSION))


def attributes_of(model):
    """Return the names of the attributes of a model and of all that it is made of, by type; arrays aside."""
    blend = model.blend_
    parts = [model, blend, blend.total, *blend.sources, *blend.structures, *blend.total.parts]
    parts += [source.kernel for source in blend.sources] + [structure.neighbors for structure in blend.structures]
    parts += [part.expansion for part in blend.total.parts]
    return {(type(part).__name__, tuple(sorted(part.__getstate__()))) for part in parts}


def without_the_first_label(model):
    """Return the labels of a model, but for one."""
    labels = np.full(len(model.X_fit_), None, dtype=object)
    rows = model.label_coding_.labeled_rows
    labels[rows] = model.label_coding_.decode(model.label_coding_.codes[rows])
    labels[rows[0]] = None
    return labels


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EARLIER)
def test_a_model_of_an_earlier_format_has_the_attributes_of_a_fresh_one(name):
    model = load_model(MODELS / f"{name}.semikpca").model
    fresh = clone(model).fit(model.X_fit_, without_the_first_label(model))
    assert attributes_of(model) <= attributes_of(fresh)  # which has kernels of more types where they are the default


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EARLIER)
def test_a_model_of_an_earlier_format_remembers_no_suggestions_until_it_makes_some(name):
    model = load_model(MODELS / f"{name}.semikpca").model
    assert model.suggested_rows_.dtype == np.intp
    assert model.suggested_rows_.tolist() == []
    np.testing.assert_array_equal(np.sort(suggest_labels(model, 2)), model.suggested_rows_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EARLIER)
def test_kernels_of_an_earlier_format_that_see_the_same_columns_are_held_against_the_same(name):
    blend = load_model(MODELS / f"{name}.semikpca").model.blend_
    seen = [
        (id(source.kernel.seen(source.rows)), id(held))
        for source, held in zip(blend.sources, blend.structures, strict=True)
    ]
    n_views = len({part for part, _ in seen})
    assert len({held for _, held in seen}) == len(set(seen)) == n_views
    assert (n_views > 1) == (name == "format-3")  # the only one with views


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EARLIER)
def test_a_model_of_an_earlier_format_takes_other_labels_and_weights_as_one_made_anew_of_its_kernels(name):
    model = load_model(MODELS / f"{name}.semikpca").model
    labels = without_the_first_label(model)
    blend = Blend.of(model.blend_.sources, encode(labels), model.blend_.settings)
    found = model.with_labels(labels)
    np.testing.assert_allclose(found.weights_, blend.weights, atol=ACROSS_FITS)
    np.testing.assert_allclose(found.blend_.decision, blend.decision, atol=ACROSS_FITS)
    assert found.blend_.accuracy.expected_accuracy == pytest.approx(blend.accuracy.expected_accuracy, abs=ACROSS_FITS)
    moved, wanted = found.at_error_weight(0.6), blend.at_weight(0.6)
    np.testing.assert_allclose(moved.blend_.decision, wanted.decision, atol=ACROSS_FITS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", ["named-kernels", "more-kernels"])
def test_a_model_of_an_earlier_format_with_named_kernels_takes_other_labels_and_weights_as_a_fresh_one(name):
    model = load_model(MODELS / f"{name}.semikpca").model
    labels = without_the_first_label(model)
    fresh, found = clone(model).fit(model.X_fit_, labels), model.with_labels(labels)
    assert found.transduction_.tolist() == fresh.transduction_.tolist()
    np.testing.assert_allclose(found.label_distributions_, fresh.label_distributions_, atol=ACROSS_FITS)
    np.testing.assert_allclose(found.label_response([3]), fresh.label_response([3]), atol=ACROSS_FITS)
    moved, wanted = found.at_error_weight(0.6), fresh.at_error_weight(0.6)
    np.testing.assert_allclose(moved.label_distributions_, wanted.label_distributions_, atol=ACROSS_FITS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", EARLIER)
def test_a_model_of_an_earlier_format_is_kept_in_the_present_one(name):
    model = load_model(MODELS / f"{name}.semikpca").model
    again = read_again(model)
    np.testing.assert_allclose(again.label_distributions_, model.label_distributions_, atol=REORDERED_SUMS)
    labels = without_the_first_label(model)
    np.testing.assert_allclose(again.with_labels(labels).weights_, model.with_labels(labels).weights_, atol=ACROSS_FITS)


def test_the_files_of_format_1_hold_every_type_that_it_knew():
    found = set()
    for path in MODELS.glob("*-kernels.semikpca"):
        found |= set(skops.io.get_untrusted_types(data=path.read_bytes().split(b"\n", 3)[3]))
    assert {name for name in found if name.startswith("semikpca.")} == set(FORMAT_1_NAMES)


def test_a_class_that_is_no_longer_there_is_read_as_its_attributes(monkeypatch):
    archive = write_objects({"kernel": RBF(gamma=2.0)})
    archive = with_schema(archive, schema_of(archive).replace('"RBF"', '"Gauss"'))
    monkeypatch.setattr("semikpca.workflow._objects.FORMER_NAMES", frozenset({(Kind.KERNEL, "Gauss")}))
    kernel = read_objects(archive)["kernel"]
    assert type(kernel) is FormerType
    assert kernel.gamma == 2.0


# -- losses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [PseudoHuber(0.3), LogCosh(2.0)], ids=repr)
def test_a_model_with_a_loss_comes_back_from_its_bytes(loss, five_classes):
    X, y = five_classes
    model = SemiKPCAClassifier(loss=loss).fit(X, y)
    again = read_objects(write_objects(model))
    assert again.certificate_ == model.certificate_
    assert again.loss == loss
    np.testing.assert_array_equal(again.decision_, model.decision_)
    row = int(np.flatnonzero(y == -1)[0])
    again.add_labels(row, 1)
    model.add_labels(row, 1)
    np.testing.assert_allclose(again.decision_, model.decision_, atol=REORDERED_SUMS)


def test_files_of_the_paper_s_loss_hold_what_they_held_before_there_were_others(five_classes):
    archive = write_objects(SemiKPCAClassifierCV().fit(*five_classes))
    with zipfile.ZipFile(io.BytesIO(archive)) as parts:
        schema = parts.read("schema.json").decode()
    assert '"SemiKPCAProblem"' in schema  # which has a loss in memory
    assert '"ConvexityCertificate"' in schema
    assert '"loss"' not in schema
    assert '"Squared"' not in schema


class UnknownLoss(PseudoHuber):
    """One that no file has a name for."""


def test_a_loss_from_outside_is_refused_by_files(five_classes):
    model = SemiKPCAClassifier(loss=UnknownLoss()).fit(*five_classes)
    with pytest.raises(ModelFileError, match="UnknownLoss"):
        write_objects(model)
