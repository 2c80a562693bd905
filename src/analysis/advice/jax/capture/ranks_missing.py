"""Let each process write its profile into one session, and give the folder with all of them.
"""
