"""Scans made from words, and an engine that answers from a file instead of looking at the picture."""

import os
import stat
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

DPI = 150
# A tesseract that writes a line to `read` for each page, then acts as the file `act` of its folder says.
ENGINE = r"""#!/bin/sh
here=$(dirname "$0")
case "$1" in
--version) echo "tesseract 0.0 $(cat "$here/version" 2>/dev/null)"; exit;;
--list-langs) printf 'List of languages in "/nowhere/" (1):\neng\nosd\n'; exit;;
esac
sum=$(cksum | cut -d ' ' -f 1)
echo "$sum" >>"$here/read"
act=$(cat "$here/act" 2>/dev/null)
[ "$act" = hang ] && exec sleep 60
[ "$act" = fail ] && { echo "no memory" >&2; exit 3; }
conf=${act:-95}
printf 'level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext\n'
printf '5\t1\t1\t1\t1\t1\t100\t100\t80\t30\t%s\tPicture\n' "$conf"
printf '5\t1\t1\t1\t1\t2\t190\t100\t90\t30\t%s\tnumber\n' "$conf"
printf '5\t1\t1\t1\t2\t1\t100\t200\t300\t30\t%s\t%s.\n' "$conf" "$sum"
"""


def picture_of(
    lines: Sequence[str], degrees: float = 0.0, size: tuple[int, int] = (900, 1200)
) -> Image.Image:
    """A grey page of lines, turned clockwise by some degrees."""
    page = Image.new("L", size, 255)
    pen = ImageDraw.Draw(page)
    font = ImageFont.load_default(26)
    for number, line in enumerate(lines):
        pen.text((80, 80 + 44 * number), line, 0, font)
    return page.rotate(-degrees, Image.Resampling.BICUBIC, fillcolor=255)


def scan_of(pages: Sequence[Sequence[str]], degrees: float = 0.0) -> bytes:
    """A PDF of pictures of pages."""
    first, *others = (picture_of(lines, degrees) for lines in pages)
    file = BytesIO()
    first.save(file, "PDF", resolution=DPI, save_all=True, append_images=others)
    return file.getvalue()


class FakeEngine:
    """A program `tesseract` in a folder, which is put before the PATH."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        program = folder / "tesseract"
        program.write_text(ENGINE)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.path = os.pathsep.join([str(folder), os.environ["PATH"]])

    def reset(self) -> None:
        """From now on be as new: certain, and without a page read."""
        for name in ("act", "read"):
            (self.folder / name).unlink(missing_ok=True)

    def act(self, how: str) -> None:
        """From now on hang, fail, or be as certain as this number of 100."""
        (self.folder / "act").write_text(how)

    @property
    def pages_read(self) -> list[str]:
        """The sum of each picture that it was given."""
        log = self.folder / "read"
        return log.read_text().split() if log.exists() else []
