"""HTML becomes the lines that a browser shows."""

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.readers import html

read = documents_of(html.read)


def text(page: str) -> str:
    return read(page.encode(), "a.html").text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>One\n  two</p><p>three<br>four", "One two\n\nthree\nfour"),
        ("<div>a<div>b</div>c</div>d", "a\nb\nc\nd"),
        ("a <b>bold</b><i> word</i>, <a href=u>link</a>.", "a bold word, link."),
        ("<ul><li>one<li>two<ul><li>deep</ul></ul>", "- one\n- two\n  - deep"),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c"),
        ("<ol type=a start=3><li>x<li>y</ol>", "c. x\nd. y"),
        (
            "<ol style='list-style-type: upper-roman'><li>x</ol><ol style='list-style:none'><li>y",
            "I. x\n\n1. y",
        ),
        ("<ruby>明日<rp>(</rp><rt>あした</rt><rp>)</rp></ruby>は", "明日は"),
        ("The lock is <span epub:type=pagebreak>47</span>12 m wide.", "The lock is 12 m wide."),
        ("<table><tr><th>A<th>B<tr><td>1<td><td>3</table>", "A | B | \n1 |  | 3"),
        ("<table><tr><td><td>2<tr><td><td></table>x", " | 2\n\nx"),
        ("<table><tr><td><p>a</p><p>b</p><ul><li>c</ul><td>d</table>", "a b c | d"),
        ("<table><tr><td><h2>H</h2>text<td>more</table>", "H\n\ntext\nmore"),
        ("x<pre>\n  a\n    b\n</pre>y", "x\n\n  a\n    b\n\ny"),
        ("<p>a&amp;b&nbsp;c &lt;d&gt; &eacute;&#x20AC;", "a&b\u00a0c <d> é€"),
        ("<p hidden>no</p><p style='display: none'>no</p><p aria-hidden=true>no</p>yes", "yes"),
        ("<nav>no</nav><script>no</script><style>no</style><template>no</template><!-- no -->yes", "yes"),
        ("<p>unclosed <b>and <i>odd</b> nest</i>ing", "unclosed and odd nesting"),
        ("a.txt", "a.txt"),
    ],
)
def test_the_text_is_what_a_browser_shows(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("10<sup>-3</sup> m<sub>2</sub>, 1<sup>st</sup>, x<sup>2<i>n</i></sup>", "10⁻³ m₂, 1st, x²ⁿ"),
        ("10<span style='vertical-align: super'>5</span>", "10⁵"),
        ("<pre>a<sup>2</sup>\nb</pre>", "a²\nb"),
        ("<math><msup><mi>x</mi><mn>2</mn></msup></math>, <math><msqrt><mn>2</mn></msqrt></math>", "x², √2"),
        ("<math><msubsup><mi>a</mi><mn>1</mn><mn>2</mn></msubsup></math>", "a₁²"),
        ("3 <math><mn>1</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math> m", "3 1 1/2 m"),
        ("<math><mroot><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>3</mn></mroot></math>", "³√(a+b)"),
    ],
)
def test_raised_and_lowered_digits_do_not_join_a_number(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    "reference",
    [
        '<sup><a href="#fn3">3</a></sup>',
        '<a href="#x"><sup>[3]</sup></a>',
        '<a href="#cite_note-3">[3]</a>',
        '<a role="doc-noteref" href="notes.xhtml">3</a>',
        '<a epub:type="noteref" href="notes.xhtml#n3"><sup>3</sup></a>',
    ],
)
def test_a_reference_to_a_note_is_apart_from_a_number(reference: str) -> None:
    assert text(f"<p>1,250{reference} t") == "1,250 [3] t"


@pytest.mark.parametrize(
    "struck",
    [
        "<del>€49</del>",
        "<s>€49</s>",
        "<strike>€49</strike>",
        "<b style='text-decoration: line-through'>€49</b>",
        "<b class='a old'>€49</b>",
        "<b class=gone>€49</b>",
        "<b id=x>€49</b>",
    ],
)
def test_struck_and_hidden_text_is_left_out(struck: str) -> None:
    sheet = "b.old { text-decoration-line: line-through } .gone, #x { display: none !important }"
    assert text(f"<style>{sheet}</style><p>Now {struck} €35") == "Now €35"


@pytest.mark.parametrize(
    "sheet", ["@media print{.x{display:none}}", "/*.x{display:none}*/", "a .x{display:none}"]
)
def test_other_rules_hide_nothing(sheet: str) -> None:
    assert text(f"<style>{sheet}</style><p class=x>shown") == "shown"


LONG = "The heron of the quay was cast in bronze in the year 1908."


@pytest.mark.parametrize(
    "page",
    [
        f"<body style='visibility:hidden'><p>{LONG}",
        f"<style>body {{ display: none }}</style><p>{LONG}",
        f"<h1>T</h1><main hidden>{LONG}</main>",
        f"<h1>T</h1><noscript>{LONG}</noscript>",
        f"<script>show()</script><h1>T</h1><div style='visibility: hidden'>{LONG}</div>",
    ],
)
def test_a_page_that_a_script_shows_is_read_with_a_remark(page: str) -> None:
    document = read(page.encode(), "a.html")
    assert document.text.endswith(LONG)
    assert document.metadata["remark"] == "text that is hidden until a script shows it"


@pytest.mark.parametrize(
    "page", [f"<p hidden>{LONG}</p>ok", "ok<noscript>Enable JavaScript to run this app.</noscript>"]
)
def test_other_hidden_text_is_left_out(page: str) -> None:
    assert text(page) == "ok"


@pytest.mark.parametrize(
    "chrome",
    [
        "<div id=cookie-banner><h2>Cookies</h2><button>Accept</button></div>",
        "<div class='js gdpr'>Accept</div>",
        "<a class=skip-link href=#m>Skip</a>",
        "<ol class=breadcrumb><li>Home</ol>",
        "<div class=navbar>Home</div>",
        "<div role=banner>Site</div>",
        "<div role=dialog>Subscribe</div>",
    ],
)
def test_menus_and_banners_are_left_out(chrome: str) -> None:
    assert text(f"{chrome}<p>words") == "words"


@pytest.mark.parametrize(
    "page",
    [
        "<div class=navbar><main>words</main></div>",
        "<h2 id=cookie-banner>words</h2>",
        "<section id=gdpr><h2>words</h2></section>",
        "<p id=consent>words</p>",
        "<div class=cookie-recipes>words</div>",
    ],
)
def test_content_with_the_name_of_a_menu_is_read(page: str) -> None:
    assert text(page) == "words"


def test_form_values_stand_at_their_place() -> None:
    boxes = "<label><input type=checkbox checked>Yes</label> <label><input type=radio>No</label>"
    fields = "Name: <input value=Ada><input type=hidden value=x><select><option>A<option selected>B</select>"
    assert text(f"{boxes}<br>{fields}<textarea>note</textarea>") == "☒ Yes ☐ No\nName: Ada B note"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><td rowspan=2>a<td>b<tr><td>c", "a | b\na | c"),
        ("<tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3", "a | a | b\n1 | 2 | 3"),
        ("<tr><td>1<td rowspan=0>2<tr><td>3<tr><td>4", "1 | 2\n3 | 2\n4 | 2"),
        (f"<tr><td colspan=2>{LONG * 4}<tr><td>1<td>2", f"{LONG * 4} | \n1 | 2"),
    ],
)
def test_each_cell_under_a_span_has_its_value(rows: str, expected: str) -> None:
    assert text(f"<table>{rows}</table>") == expected


def test_spans_add_a_limited_number_of_cells() -> None:
    rows = "<tr><td colspan=9999 rowspan=9999>a" * 300
    assert len(text(f"<table>{rows}</table>")) < 500_000


def test_headings_have_levels_and_offsets() -> None:
    document = read(b"<h1>The <i>mill</i></h1><p>x<h3><img alt=''> Two\n words </h3><h2> </h2>", "a.html")
    assert [(h.level, h.text, document.text[h.start :][:9]) for h in document.headings] == [
        (1, "The mill", "The mill\n"),
        (3, "Two words", "Two words"),
    ]


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>A &amp; b</title><h1>Top</h1>", "A & b"),
        ("<p>x</p><h1>Top</h1>", "Top"),
        ("<p>words", "words"),
        ("", "a"),
    ],
)
def test_the_title_is_the_best_that_there_is(page: str, title: str) -> None:
    assert read(page.encode(), "a.html").title == title


def test_no_entity_is_fetched_or_expanded() -> None:
    page = '<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/hostname"><!ENTITY b "bbb">]><p>x &a; &b; y'
    assert "bbb" not in text(page).replace("[", "").split("]>")[-1]
