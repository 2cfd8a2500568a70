"""What several tests share: small corpora, files of every format, tiny models and stand-ins."""
