"""Let each process write its profile into one folder that all hosts see (the same log directory and the same name of the
run), or copy their .xplane.pb files into one session's folder, and give that folder.
"""
