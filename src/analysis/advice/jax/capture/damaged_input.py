"""Copy the profile again from where it was written, and check that the disk was not full and
the job not killed while it was saved. What could be read was analysed.
"""
