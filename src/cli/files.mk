cli_sources +=
