"""Groups of cells: by collection of data sets and by the number of labels."""

from made_records import cell_of, folder_info
from semikpca_benchmarks.accuracy import AccuracyCell, accuracy_groups


def names(cells):
    return {group.name: [str(cell) for cell in group.cells] for group in accuracy_groups(cells)}


def test_groups_are_collections_by_their_labels_then_whole_and_all_comes_last():
    cells = [
        cell_of("heart", 3),
        cell_of("heart", 27),
        cell_of("sonar", 2),
        cell_of("digits", 2),
        cell_of("wine", 5),
        cell_of("banana", 5),
        cell_of("digits", 10, flipped=20),
    ]
    assert names(cells) == {
        "paper 1%": ["heart-3", "sonar-2"],
        "paper 10%": ["heart-27"],
        "paper": ["heart-3", "heart-27", "sonar-2"],
        "digits 2": ["digits-2"],
        "digits": ["digits-2"],
        "tuning 5": ["wine-5"],
        "tuning": ["wine-5"],
        "aside 5": ["banana-5"],
        "aside": ["banana-5"],
        "all 2": ["digits-2"],
        "all 5": ["wine-5", "banana-5"],
        "all": ["heart-3", "heart-27", "sonar-2", "digits-2", "wine-5", "banana-5"],
    }


def test_rare_sets_are_grouped_as_a_whole_and_by_half():
    found = names([cell_of("glass6", 1), cell_of("car-good", 1), cell_of("car-good", 2)])
    assert found["rare"] == ["glass6-1", "car-good-1", "car-good-2"]
    assert found["rare-tuning"] == ["car-good-1", "car-good-2"]
    assert found["rare-aside"] == ["glass6-1"]
    assert found["rare 1"] == ["glass6-1", "car-good-1"]


def test_sets_of_a_folder_are_in_the_folder_and_in_groups_of_the_users():
    mails, news = folder_info("mails", groups=("folder", "text")), folder_info("news", groups=("folder", "text"))
    found = names([AccuracyCell(folder_info("cells"), 1), AccuracyCell(mails, 1), AccuracyCell(news, 2)])
    assert found["folder"] == ["cells-1", "mails-1", "news-2"]
    assert found["text"] == ["mails-1", "news-2"]
    assert found["text 2"] == ["news-2"]


def test_all_cells_with_one_or_two_labels_a_class_are_a_group_with_those_of_the_paper_that_have_as_many():
    cells = [cell_of("sonar", 2), cell_of("sonar", 4), cell_of("heart", 3), cell_of("digits", 1), cell_of("wine", 2)]
    found = names(cells)
    assert found["all 1"] == ["sonar-2", "digits-1"]
    assert found["all 2"] == ["sonar-4", "wine-2"]
    assert found["all 1 and 2"] == ["sonar-2", "sonar-4", "digits-1", "wine-2"]
    assert not [name for name in found if "1.5" in name]  # heart-3


def test_cells_with_wrong_labels_alone_make_no_group():
    assert accuracy_groups([cell_of("digits", 10, flipped=20)]) == []
