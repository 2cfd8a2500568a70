"""`spanwise` and `python -m spanwise`: hands over to the command line."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    import gc

    gc.set_threshold(
        100_000, 50, 100
    )  # modules are no garbage: looking for some while they load takes a tenth
    from spanwise.pipelines.cli import main as run

    run()


if __name__ == "__main__":
    main()
