import pytest

from gleanvid.glimpse.questions.clips import ask_about
from gleanvid.glimpse.questions.grammar import _PATTERNS, FORMS, read


def test_every_question_of_glimpse_has_a_form_and_every_form_is_asked():
    texts = {question.text for index in range(250) for question in ask_about(0, "test", index)}
    assert all(read(text).text == text for text in texts)
    asked = [any(form.fullmatch(text.lower()[:-1]) for text in texts) for form in _PATTERNS]
    assert [form for form, is_asked in zip(FORMS, asked, strict=True) if not is_asked] == [FORMS[0]]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what COLOR is the  cross", "What colour is the cross?"),
        ("Where is the red object?", "Where is the red object?"),
        ("Where is the red?", ""),
        ("What colour is the cross? And the car?", ""),
        ("asdf", ""),
    ],
)
def test_only_questions_of_a_known_form_are_read_whatever_their_case_and_spelling(question, text):
    assert read(question).text == text


def test_question_of_another_form_gets_the_nearest_forms_about_its_own_objects():
    reading = read("colour of the car", ["Where is the star?"])
    assert reading.unknown == ("car",) and reading.nearest[0] == "What colour is the star?"
    assert read("In what direction goes the heart?").nearest[0].endswith("does the heart go?")
    assert all(read(text).text == text for text in reading.nearest)
