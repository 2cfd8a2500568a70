import random

from hypothesis import given, strategies as st

from spanwise.retrieval.training.mining import MiningConfig, NearRepeats, jaccard, mine_negatives

PASSAGES = [f"this is passage number {i}" for i in range(30)]
RANKING = st.lists(st.sampled_from(PASSAGES), unique=True, max_size=20)
CONFIG = st.builds(MiningConfig, hard=st.integers(1, 8), easy=st.integers(0, 4), depth=st.integers(1, 12))
WORDS = st.lists(st.sampled_from("who built the old mill of town".split()), max_size=9).map(" ".join)


def mined(ranking, config, answers=(), others=PASSAGES, seed=0):
    return mine_negatives(
        "the positive", ranking, others, lambda text: text in answers, config, random.Random(seed)
    )


@given(RANKING, CONFIG, st.sets(st.sampled_from(PASSAGES)), st.integers())
def test_no_negative_answers_the_question(ranking, config, answers, seed):
    negatives = mined(ranking, config, answers, seed=seed)
    assert not {"the positive", *answers} & set(negatives)
    assert len(set(negatives)) == len(negatives) <= config.hard + config.easy
    assert negatives == mined(ranking, config, answers, seed=seed)
    assert set(mined(ranking, config, others=())) <= set(ranking[: config.depth])


def test_near_repeats_of_the_positive_passage_are_no_negatives():
    ranking = ["It was said: the positive passage of the question", "another"]
    positive = "the positive passage of the question"
    negatives = mine_negatives(positive, ranking, [], lambda text: False, MiningConfig(), random.Random(0))
    assert jaccard(positive, ranking[0]) > 0.5
    assert negatives == ("another",)


def test_easy_negatives_follow_the_hard_ones():
    assert mined(["a", "b", "c"], MiningConfig(hard=2, easy=0)) == ("a", "b")
    negatives = mined(["a", "b"], MiningConfig(hard=2, easy=3))
    assert negatives[:2] == ("a", "b")
    assert len(negatives) == 5
    assert set(negatives[2:]) <= set(PASSAGES)
    assert mined(["a"], MiningConfig(hard=3, easy=3), others=["a", "the positive"]) == ("a",)


@given(st.lists(WORDS, max_size=8), WORDS, st.sampled_from([0.5, 0.8, 1.0]))
def test_near_repeats_are_those_of_a_comparison_with_each(texts, text, similar):
    expected = any(jaccard(other, text) >= similar - 1e-9 for other in texts)
    assert NearRepeats(texts, similar).like(text) is expected
