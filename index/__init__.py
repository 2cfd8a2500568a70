"""Everything on disk: the catalog, immutable segments and the manifest that names them."""
