"""Let each rank write its trace (tensorboard_trace_handler names them apart), and give the folder with
all of them.
"""
