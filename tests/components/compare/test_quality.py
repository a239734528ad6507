from components.compare.quality import quality


def test_quality_is_agreement_with_all_tokens_only_if_no_right_answer_is_known():
    assert quality(["a b"], [None], ["a b"]) == {"value": 1.0}
    known = quality(["a", "b"], ["a", None], ["x", "y"])
    assert (known["right"], known["of"]) == (1, 1)
