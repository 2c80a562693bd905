# SPDX-License-Identifier: MIT
"""Builds the programs with the repository's own configure and make, and puts them and the page into the wheel.

The C sources stand above this folder: the plugin is built from a checkout or an unpacked tarball. What the build needs
is named by configure when it is missing. TPUSIGHT_BUILD names a build folder that is there already, and is used as it is.
TPUSIGHT_PLATFORM names the platforms of the wheel, with a dot between two, where the programs of that folder run on more than
this machine (packaging/wheels.sh).
"""
import glob
import os
import re
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

from distutils.command.build_scripts import build_scripts  # setuptools brings both where Python has them no more
from distutils.command.install_data import install_data

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PROGRAMS = ["tpusight", "tpusight-annotate"]
PAGE = ["page.js", "page.css"]
LICENCE, NOTICES = "LICENSE", "THIRD-PARTY-NOTICES"  # what `tpusight --licenses` prints is the second
# Where in an environment manual pages and completions go, as `make install` has it, and which files of manual/ they are.
MANUAL = {"share/man/man1": "*.1", "share/bash-completion/completions": "bash/*", "share/zsh/site-functions": "_tpusight",
          "share/fish/vendor_completions.d": "*.fish"}


def version():
    with open(os.path.join(ROOT, "configure.ac"), encoding="utf-8") as f:
        found = re.search(r"AC_INIT\(\[tpusight\], \[([^\]]+)\]", f.read())
    if not found:
        raise SystemExit("tpusight: configure.ac has no version")
    return found.group(1)


def run(command, folder):
    print("tpusight:", " ".join(command), file=sys.stderr)
    if subprocess.call(command, cwd=folder) != 0:
        raise SystemExit(f"tpusight: {command[0]} failed; what is missing is named above")


def built(temp):
    """The folder with the programs and the page, built if it is not there yet."""
    given = os.environ.get("TPUSIGHT_BUILD")
    if given:
        return given
    folder = os.path.abspath(os.path.join(temp, "native"))
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(os.path.join(ROOT, "configure")):
        run([os.path.join(ROOT, "bootstrap")], ROOT)
    if not os.path.exists(os.path.join(folder, "Makefile")):
        run([os.path.join(ROOT, "configure"), "--quiet"], folder)
    run(["make", "-s", f"-j{os.cpu_count() or 1}", "all"], folder)
    return folder


def manual(folder):
    """Folders of an environment, each with the files that go there: make printed them, or they came in the tarball."""
    place = next((place for place in (folder, ROOT) if os.path.exists(os.path.join(place, "manual", "tpusight.1"))), None)
    if not place:
        raise SystemExit("tpusight: the manual pages were not made (run make all in the build folder)")
    return [(target, sorted(glob.glob(os.path.join(place, "manual", pattern)))) for target, pattern in MANUAL.items()]


def put_notices(folder, target):
    """The notices of all that the programs and the page are made of: make wrote them, or they are put together here."""
    if os.path.exists(os.path.join(folder, NOTICES)):
        shutil.copyfile(os.path.join(folder, NOTICES), target)
        return
    with open(target, "wb") as f:
        subprocess.check_call(["sh", os.path.join(ROOT, "notices", "text.sh")], stdout=f, cwd=ROOT)


def page_of(folder, name):
    for place in (folder, ROOT):
        path = os.path.join(place, "plugin", "page", "dist", name)
        if os.path.exists(path):
            return path
    raise SystemExit("tpusight: the page was not built (install npm, or build from a release's tarball)")


class BuildScripts(build_scripts):
    """The programs are not scripts: they are copied as they are."""

    def run(self):
        folder = built(self.get_finalized_command("build").build_temp)
        os.makedirs(self.build_dir, exist_ok=True)
        for name in PROGRAMS:
            target = os.path.join(self.build_dir, name)
            shutil.copy2(os.path.join(folder, "bin", name), target)
            os.chmod(target, 0o755)


class BuildPy(build_py):
    def run(self):
        super().run()
        folder = built(self.get_finalized_command("build").build_temp)
        base = HERE if getattr(self, "editable_mode", False) else self.build_lib  # editable: the sources are what is imported
        static = os.path.join(base, "tensorboard_plugin_tpusight", "static")
        os.makedirs(static, exist_ok=True)
        for name in PAGE:
            shutil.copy2(page_of(folder, name), os.path.join(static, name))


class InstallData(install_data):
    def run(self):
        self.data_files = manual(built(self.get_finalized_command("build").build_temp))
        super().run()


class Wheel(bdist_wheel):
    """Any Python 3 of this platform: the programs are compiled, nothing is linked to Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def write_wheelfile(self, wheelfile_base, *rest, **named):
        """The licence and the notices lie beside the metadata, where installers and auditors look for them."""
        super().write_wheelfile(wheelfile_base, *rest, **named)
        folder = os.path.join(wheelfile_base, "licenses")
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, LICENCE), os.path.join(folder, LICENCE))
        put_notices(built(self.get_finalized_command("build").build_temp), os.path.join(folder, NOTICES))

    def get_tag(self):
        return ("py3", "none", os.environ.get("TPUSIGHT_PLATFORM") or super().get_tag()[2])


setup(version=version(), license="MIT", scripts=PROGRAMS, data_files=[(target, []) for target in MANUAL],
      cmdclass={"build_py": BuildPy, "build_scripts": BuildScripts, "install_data": InstallData, "bdist_wheel": Wheel})
