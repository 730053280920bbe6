"""Draw the pictures of README.md and of the gallery: ``python docs/pictures.py``.

Each section of the gallery is run, and its first plot becomes a small picture with its name.  The
pictures stand at the top of the page, between two marks, and lead to their sections.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib import font_manager
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from odrf import load_data, odt

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
GALLERY = DOCS / "gallery.md"
OTHERS = "On other pages"
BY_TABLE = "accuracy-by-table.png"
BEGIN, END = "<!-- thumbnails -->\n", "<!-- end of thumbnails -->\n"
WIDTH, HEIGHT, CAPTION, COLOURS = 220, 160, 22, 48


def other_pages() -> list[str]:
    """Write pictures/tree.svg, pictures/path.svg, and small ones of all pictures of other pages.

    Return the links that show them, each to the script that makes the picture.
    """
    links = []
    plt.rcParams["svg.hashsalt"] = "odrf"  # the same file each time
    cars = load_data("auto_mpg").dropna()
    tree = odt("mpg ~ weight + horsepower + year", cars, alpha=None, seed=1)
    for name, ax in [
        ("tree", tree.prune(leaves=4).plot()),
        ("path", tree.pruning_path(cv=10).plot()),
    ]:
        ax.figure.savefig(
            PICTURES / f"{name}.svg",
            bbox_inches="tight",
            facecolor="white",
            metadata={"Date": None},
        )
        links.append(shown(ax.figure, f"{name}.svg", Path(__file__).name))
    figure, ax = plt.subplots(figsize=(6, 4))
    ax.imshow(plt.imread(PICTURES / BY_TABLE))
    ax.axis("off")
    links.append(shown(figure, BY_TABLE, "../benchmarks/accuracy/by_table.py"))
    plt.close("all")
    return links


def sections(page: str) -> list[tuple[str, str, str]]:
    """Return the heading, the name and the code of each section of the gallery."""
    found, heading = [], ""
    for level, title, text in re.findall(r"^(##+) (.+)\n((?:(?!##).*\n)*)", page, re.MULTILINE):
        heading = title if level == "##" else heading
        code = "\n".join(re.findall(r"```\{code-cell\} ipython3\n(.*?)```", text, re.DOTALL))
        found.append((heading, title.strip("`"), code))
    return found


def thumbnail(figure: Figure, name: str) -> Image.Image:
    """Return a small picture of a figure, with its name below."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, bbox_inches="tight", facecolor="white")
    picture = Image.open(buffer).convert("RGB")
    picture.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    card = Image.new("RGB", (WIDTH, HEIGHT + CAPTION), "white")
    card.paste(picture, ((WIDTH - picture.width) // 2, (HEIGHT - picture.height) // 2))
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 11)
    ImageDraw.Draw(card).text(
        (WIDTH / 2, HEIGHT + CAPTION / 2), name, fill="black", font=font, anchor="mm"
    )
    return card.quantize(COLOURS)


def shown(figure: Figure, name: str, target: str) -> str:
    """Write the small picture of a figure; return the link that shows it."""
    path = PICTURES / "gallery" / f"{anchor(name)}.png"
    thumbnail(figure, name).save(path, optimize=True)
    return f"[![{name}](pictures/gallery/{path.name})]({target})"


def anchor(name: str) -> str:
    """Return the anchor of the section of a plot."""
    return name.lower().replace(".", "")


def gallery() -> None:
    """Write a small picture of each section, and the block that shows them."""
    page = GALLERY.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    setting = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", after, re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(setting, names)
    block: dict[str, list[str]] = {}
    for heading, name, code in sections(after):
        plt.close("all")
        exec(code, names)
        if "." not in name:
            continue
        figure = plt.figure(plt.get_fignums()[0])
        block.setdefault(heading, []).append(shown(figure, name, f"#{anchor(name)}"))
    block[OTHERS] = other_pages()
    links = "".join(
        f"\n**{heading}**\n\n" + "\n".join(each) + "\n" for heading, each in block.items()
    )
    GALLERY.write_text(f"{before}{BEGIN}{links}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    (PICTURES / "gallery").mkdir(parents=True, exist_ok=True)
    gallery()
