from hypothesis import given, strategies as st

from spanwise.index.merge import Size, choose

SIZES = st.lists(
    st.integers(1, 50).flatmap(lambda rows: st.builds(Size, st.just(rows), st.integers(0, rows)))
)


@given(SIZES)
def test_a_segment_that_is_left_out_is_at_least_half_live(sizes) -> None:
    chosen = choose(sizes)
    left = [size for place, size in enumerate(sizes) if place not in chosen]
    assert all(size.live * 2 >= size.rows for size in left)


def test_rows_are_copied_a_logarithmic_number_of_times() -> None:
    sizes = []
    copied = 0
    for _ in range(2000):
        sizes.append(Size(1, 1))
        chosen = choose(sizes)
        merged = sum(sizes[place].live for place in chosen)
        copied += merged
        sizes = [size for place, size in enumerate(sizes) if place not in chosen]
        sizes += [Size(merged, merged)] if chosen else []
    assert len(sizes) <= 3 * 6  # log4(2000) is 5.5
    assert copied / 2000 <= 6
