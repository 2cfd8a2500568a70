"""Starts the command line for `spanwise` and `python -m spanwise`."""


def main() -> None:
    """Run the command line and exit with its code."""
    import gc

    gc.set_threshold(100_000, 50, 100)  # garbage collection during imports costs 10 % of start-up
    from spanwise.pipelines.cli import main as run

    run()


if __name__ == "__main__":
    main()
