EXTRA_DIST += docs/architecture.md docs/overlay-in-xprof.png docs/recommendations-in-xprof.png
EXTRA_DIST += docs/analyses.md docs/copies.md docs/live.md docs/python.md docs/python-torch.md docs/page-overview.png docs/page-doctor.png docs/page-live.png
