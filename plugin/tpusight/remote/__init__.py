# SPDX-License-Identifier: MIT
"""What tpusight-remote-SCHEME runs: buckets for the C program, which holds no code of any cloud.

The program starts it with a URL, writes requests on its standard input and reads replies from its standard output, a JSON object a
line each (docs/remote.md). Bytes never go through these pipes: they are read into files, and written from files. Stores are
reached with fsspec and its packages gcsfs, s3fs and adlfs; logging in is theirs.

    protocol    the loop: requests in, replies out, cancelling
    requests    what each request may hold
    store       what all stores share: reading ranges in parallel, progress, local files
    gs, s3, az  the three that add a tail to an object without its bytes
    plain       whatever else fsspec knows
"""
