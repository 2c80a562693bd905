# SPDX-License-Identifier: MIT
# The helper for buckets. Its tests need the packages and fake stores that tests/remote/given.py names, and skip without them.
EXTRA_DIST += tests/remote/battery.py tests/remote/given.py tests/remote/keeping.py tests/remote/proxy.py \
	tests/remote/requirements.txt tests/remote/store.py
