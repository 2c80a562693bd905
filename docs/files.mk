# The folder as it stands: pages of analyses come and go with the analyses.
EXTRA_DIST += docs/adding docs/analyses docs/architecture.md docs/compare.md docs/copies.md docs/formats.md docs/live.md docs/python.md docs/python-torch.md docs/words.md
EXTRA_DIST += docs/overlay-in-xprof.png docs/recommendations-in-xprof.png docs/page-overview.png docs/page-doctor.png docs/page-live.png
