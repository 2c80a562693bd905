"""Leave enable_hlo_proto at its default, and profile a program that is loaded before the
profile starts or in it.
"""

# include: _with_options.py
