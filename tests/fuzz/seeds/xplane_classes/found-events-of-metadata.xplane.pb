
7/host:metadatatd"
À„= Â"an event