"""The activity was on and the launches were seen, but what they ran was not recorded. Give the schedule a warm-up step (CUPTI and
roctracer begin to record late), capture fewer steps (their buffers are full), end the profile after
torch.cuda.synchronize(), and let no other profiler hold the device (DCGM, Nsight, ncu).
"""
# include: _good_capture.py
