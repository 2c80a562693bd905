EXTRA_DIST += docs/architecture.md
EXTRA_DIST += docs/analyses-doctor.md
