# SPDX-License-Identifier: MIT
# How what is installed is made: wheels, the Debian package, an image.
EXTRA_DIST += pyproject.toml packaging/backend.py packaging/libraries.txt packaging/sources.sh packaging/static.sh packaging/tools.sh packaging/wheels.sh \
	packaging/deb.sh packaging/try.sh packaging/installed.sh packaging/try_image.sh packaging/Containerfile packaging/config/curl.h packaging/config/libarchive.h packaging/config/microhttpd.h \
	packaging/config/xz.h packaging/debian/control packaging/debian/copyright packaging/debian/rules packaging/debian/source/format \
	packaging/debian/tpusight.docs
