from __future__ import annotations

from spanwise.reader.answer_form import enclosing_list

RULES = """Visitors must keep three rules:

- Do not touch the stones.
- Keep dogs
  on a lead.
- Leave by six.

The mill is open daily."""


def quoted(text: str, inside: str) -> str | None:
    start = text.index(inside)
    found = enclosing_list(text, start, start + len(inside))
    return None if found is None else text[slice(*found)]


def test_an_item_brings_its_whole_list_and_the_line_that_announces_it():
    whole = RULES[: RULES.index("\n\nThe mill")]
    assert quoted(RULES, "dogs") == whole
    assert quoted(RULES, "on a lead") == whole
    assert quoted(RULES, "three rules") == whole


def test_a_single_item_without_announcement_is_no_list():
    assert quoted("- only one thing\n\nprose", "one") is None


def test_a_numbered_list():
    assert (
        quoted("Steps\n1. Close the gate.\n2. Open the weir.\n", "weir")
        == "1. Close the gate.\n2. Open the weir."
    )


def test_a_long_list_is_cut_at_whole_items():
    text = "Items:\n" + "\n".join(f"- item number {i} of the inventory" for i in range(100))
    found = quoted(text, "number 3 ")
    assert found is not None
    assert len(found) <= 1200
    assert text[len(found)] == "\n"
