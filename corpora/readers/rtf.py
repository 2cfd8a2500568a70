"""Reads Rich Text Format with striprtf: paragraphs and rows of tables, without headings."""

from spanwise.errors import DocumentRejected

from .builder import TextBuilder, one_line

MEDIA_TYPE = "application/rtf"
MAX_BYTES = 50_000_000


def read(data: bytes) -> TextBuilder:
    """The document of an .rtf file, titled by its first line."""
    from striprtf.striprtf import rtf_to_text

    if len(data) > MAX_BYTES:
        raise DocumentRejected(f"RTF of {len(data):,} bytes; the limit is {MAX_BYTES:,}")
    try:
        text = rtf_to_text(data.decode("latin-1"), errors="replace")
    except Exception as error:  # striprtf does not check the arguments of control words
        raise DocumentRejected(f"damaged RTF: {type(error).__name__}: {error}") from error
    builder = TextBuilder()
    for line in text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split("\n"):
        is_row = line.endswith("|")  # striprtf ends each cell with it
        cells = [one_line(cell) for cell in line.split("|")]
        builder.write_paragraph(" | ".join(cells).strip(" |") if is_row else line.strip(), blank=not is_row)
    return builder.described(MEDIA_TYPE, builder.first_line)
