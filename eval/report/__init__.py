"""A page that shows an evaluation: figures, plots as SVG, the worst failures; one file, without script."""
