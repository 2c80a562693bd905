# SPDX-License-Identifier: MIT
"""What pip asks for at the top of the repository (PEP 517 and 660). The package stands in plugin/: setuptools is asked there.

A source distribution is the tarball of `make dist` with PKG-INFO: C sources, the page as it was bundled, and ./configure.
"""
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile

from setuptools import build_meta

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLUGIN = os.path.join(ROOT, "plugin")


def in_plugin(hook, folder, *rest):
    """What the hook answers in the package's folder; where results go is meant from the folder that pip stands in."""
    there = folder and os.path.abspath(folder)
    before = os.getcwd()
    os.chdir(PLUGIN)
    try:
        return hook(there, *rest)
    finally:
        os.chdir(before)


def without_folder(hook):
    return lambda _folder, settings: hook(settings)


def get_requires_for_build_wheel(config_settings=None):
    return in_plugin(without_folder(build_meta.get_requires_for_build_wheel), None, config_settings)


def get_requires_for_build_editable(config_settings=None):
    return in_plugin(without_folder(build_meta.get_requires_for_build_editable), None, config_settings)


def get_requires_for_build_sdist(config_settings=None):
    return in_plugin(without_folder(build_meta.get_requires_for_build_sdist), None, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return in_plugin(build_meta.prepare_metadata_for_build_wheel, metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    return in_plugin(build_meta.prepare_metadata_for_build_editable, metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    metadata = metadata_directory and os.path.abspath(metadata_directory)
    return in_plugin(build_meta.build_wheel, wheel_directory, config_settings, metadata)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    metadata = metadata_directory and os.path.abspath(metadata_directory)
    return in_plugin(build_meta.build_editable, wheel_directory, config_settings, metadata)


def configured(folder):
    """The build folder that TPUSIGHT_BUILD names, or a new one in the given folder."""
    given = os.environ.get("TPUSIGHT_BUILD")
    if given:
        return given
    if not os.path.exists(os.path.join(ROOT, "configure")):
        subprocess.check_call([os.path.join(ROOT, "bootstrap")], cwd=ROOT, stdout=sys.stderr)
    os.makedirs(folder)
    subprocess.check_call([os.path.join(ROOT, "configure"), "--quiet"], cwd=folder, stdout=sys.stderr)
    return folder


def with_metadata(tarball, target, metadata):
    """A copy of the tarball with PKG-INFO in its one folder; the time of every file stays as it is."""
    with tarfile.open(tarball) as old, open(target, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        members = old.getmembers()
        top = members[0].name.split("/")[0]
        for member in members:
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
        head = tarfile.TarInfo(f"{top}/PKG-INFO")
        head.size, head.mtime, head.mode = len(metadata), members[0].mtime, 0o644
        new.addfile(head, io.BytesIO(metadata))


def build_sdist(sdist_directory, config_settings=None):
    work = os.path.join(os.path.abspath(sdist_directory), "tpusight-sdist")
    os.makedirs(work)
    try:
        folder = configured(os.path.join(work, "build"))
        subprocess.check_call(["make", "-s", "--no-print-directory", "dist-gzip"], cwd=folder, stdout=sys.stderr)
        info = prepare_metadata_for_build_wheel(work, config_settings)
        with open(os.path.join(work, info, "METADATA"), "rb") as f:
            metadata = f.read()
        version = next(line.split()[1] for line in metadata.decode().splitlines() if line.startswith("Version: "))
        name = f"tpusight-{version}.tar.gz"
        with_metadata(os.path.join(folder, name), os.path.join(sdist_directory, name), metadata)
        return name
    finally:
        shutil.rmtree(work)
