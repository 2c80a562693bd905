"""Its numbers hold: TPUsight reads such a file. For viewers, tpusight annotate and tpusight trim
write copies that are valid JSON (null for such numbers, escapes for such bytes), and
--perfetto=pftrace one that is not JSON. The file itself stays as it is.
"""
