"""Every method has a name for people, and a person sees no other."""

from gleanvid.compressors import COMPRESSORS, title_of


def test_every_method_has_a_title_of_its_own():
    titles = {method.title for method in COMPRESSORS.values()}
    assert all("title" in vars(method) for method in COMPRESSORS.values())
    assert len(titles) == len(COMPRESSORS)


def test_titles_are_as_the_papers_write_them():
    wanted = {"full": "All tokens", "vcast": "V-CAST", "vidcom2": "VidCom2", "fastv": "FastV"}
    assert {name: title_of(name) for name in wanted} == wanted


def test_a_name_from_elsewhere_stands_for_itself():
    assert title_of("mine") == "mine"
