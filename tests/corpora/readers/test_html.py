"""HTML becomes the lines that a browser shows."""

from __future__ import annotations

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
        ("<table><tr><th>A<th>B<tr><td>1<td><td>3</table>", "A | B\n1 | | 3"),
        ("<table><tr><td><td>2<tr><td><td></table>x", "| 2\n\nx"),
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
