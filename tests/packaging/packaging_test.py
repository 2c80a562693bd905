#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What packaging/ says of itself is true, and the wheels that are there are what their tags say: packaging_test.py

The metadata and a wheel of programs that are not programs are made in a moment; nothing is compiled. TS_WHEELS names a folder of
wheels from packaging/wheels.sh: then the size of each is looked at, whether its programs bind no library and are of its machine, and
whether the page, the licence, the notices and the manual are inside. That this is noticed is tried with a wheel of programs of
this machine, which do bind libraries. Run in the build folder.
"""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import must, wrong

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PACKAGING = os.path.join(TOP, "packaging")
EXTRAS = {"tpu", "jax", "torch", "notebook"}
MOST_BYTES = 12 << 20
MACHINES = {"x86_64": 62, "aarch64": 183}  # e_machine
INTERP, DYNAMIC, NEEDED = 3, 2, 1  # PT_INTERP: another program loads its libraries; DT_NEEDED in PT_DYNAMIC: one of these
MANUAL = next((place for place in map(os.path.abspath, ("manual", os.path.join(TOP, "manual"))) if os.path.isdir(place)), None)
TAGS = "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"
BACKEND = """
import sys
sys.path.insert(0, "packaging")
import backend
print(getattr(backend, sys.argv[1])(sys.argv[2]))
"""
LICENCE, NOTICES = ".dist-info/licenses/LICENSE", ".dist-info/licenses/THIRD-PARTY-NOTICES"
PARTS = [".data/scripts/tpusight", ".data/scripts/tpusight-annotate", "/static/page.js", "/static/page.css", "tpusight/pod/main.py",
         LICENCE, NOTICES, "/share/bash-completion/completions/tpusight", "/share/bash-completion/completions/tpusight-annotate",
         "/share/zsh/site-functions/_tpusight", "/share/fish/vendor_completions.d/tpusight.fish"]


def text_of(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def backend(hook, folder, **environment):
    done = subprocess.run([sys.executable, "-c", BACKEND, hook, folder], cwd=TOP, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    must(done.returncode == 0, f"{hook} of packaging/backend.py fails:\n{done.stderr[-2000:]}")
    return os.path.join(folder, done.stdout.split()[-1]) if done.returncode == 0 else None


def metadata_is_the_package(folder):
    info = backend("prepare_metadata_for_build_wheel", folder)
    if not info:
        return
    with open(os.path.join(info, "METADATA"), encoding="utf-8") as f:
        said = f.read()
    version = re.search(r"AC_INIT\(\[tpusight\], \[([^]]+)\]", text_of("configure.ac")).group(1)
    must(f"\nVersion: {version}\n" in said, f"the metadata does not say the version of configure.ac, {version}")
    must("\nLicense: MIT\n" in said, "the metadata does not name the licence, MIT")
    missing = EXTRAS - set(re.findall(r"^Provides-Extra: (.*)$", said, re.M))
    must(not missing, f"pip install '.[...]' does not know {', '.join(sorted(missing))}")


def pretend_build(folder):
    """A build folder whose programs and page are a line each; its manual pages are those of the build."""
    shutil.copytree(MANUAL, os.path.join(folder, "manual"))
    for name in ("bin/tpusight", "bin/tpusight-annotate", "plugin/page/dist/page.js", "plugin/page/dist/page.css"):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n# {name}\n")
    return folder


def wheel_says_its_platforms(folder):
    build = pretend_build(os.path.join(folder, "build"))
    wheel = backend("build_wheel", folder, TPUSIGHT_BUILD=build, TPUSIGHT_PLATFORM=TAGS)
    if not wheel:
        return
    must(wheel.endswith(f"-py3-none-{TAGS}.whl"), f"{os.path.basename(wheel)} does not have the tags {TAGS}")
    with zipfile.ZipFile(wheel) as z:
        said = z.read(next(n for n in z.namelist() if n.endswith("/WHEEL"))).decode()
        has_its_parts(z, os.path.basename(wheel))
    for tag in TAGS.split("."):
        must(f"Tag: py3-none-{tag}\n" in said, f"WHEEL does not name the tag py3-none-{tag}")


def text_inside(z, ending):
    """The text of the wheel's one file with that ending; None: it has none."""
    name = next((n for n in z.namelist() if n.endswith(ending)), None)
    return z.read(name).decode() if name else None


def has_its_parts(z, wheel):
    """Does the wheel have the programs, the page, the licence, all notices, and each manual page as the build has it?"""
    missing = [part for part in PARTS if not any(n.endswith(part) for n in z.namelist())]
    must(not missing, f"{wheel} has no {', '.join(missing)}")
    must(text_inside(z, LICENCE) == text_of("LICENSE"), f"{wheel} does not have the repository's LICENSE")
    said = text_inside(z, NOTICES) or ""
    for name in re.findall(r"^([\w-]+) *\|", text_of("notices", "list"), re.M):
        must(f"\n==== {name} ====\n" in said, f"the notices of {wheel} do not speak of {name}")
    for page in glob.glob(os.path.join(MANUAL, "*.1")):
        name = os.path.basename(page)
        must(text_inside(z, f"/share/man/man1/{name}") == text_of(page), f"{wheel} does not have the manual page {name}")


def libraries_are_those_of_configure():
    script = text_of("packaging", "static.sh")
    described = set(re.findall(r"^\tdescribe (\S+)", script, re.M))
    wanted = set(re.findall(r"TS_REQUIRE_LIB\(\[\w+\], \[([\w-]+)", text_of("configure.ac")))
    must(wanted <= described, f"packaging/static.sh does not build {', '.join(sorted(wanted - described))}, which configure wants")
    rows = [line.split("|") for line in text_of("packaging", "libraries.txt").splitlines() if not line.startswith("#")]
    built = set(re.findall(r"^build_([\w-]+)\(\)", script, re.M)) - {"libraries", "programs"}
    must({row[0] for row in rows} == built, f"packaging/libraries.txt and the functions of static.sh differ: "
         f"{', '.join(sorted({row[0] for row in rows} ^ built))}")
    must(all(len(row) == 4 and all(row) for row in rows), "a row of packaging/libraries.txt has not four parts")


def missing_tools_are_named_at_once(folder):
    """On a machine that has nothing but a shell: each tool on a line with the way to get it, before anything is made."""
    path = os.path.join(folder, "nothing")
    os.mkdir(path)
    for tool in ("bash", "dirname", "uname", "mkdir"):
        os.symlink(shutil.which(tool), os.path.join(path, tool))
    environment = {"PATH": path, "TS_PACKAGING": os.path.join(folder, "packaging"), "TS_DEBIAN_KEYS": os.path.join(folder, "no-keys")}
    done = subprocess.run([os.path.join(TOP, "packaging", "wheels.sh"), os.path.join(folder, "wheels"), "x86_64-linux"],
                          env=environment, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    for tool in ("python3", "pkg-config", "protoc-c", "make", "dpkg-source", "nasm"):
        must(any(re.fullmatch(rf"{tool} is missing \(Debian, Ubuntu: apt-get install [a-z0-9-]+\)", line) for line in lines),
             f"wheels.sh does not say that {tool} is missing: {done.stderr}")
    must(any("no wheel (python3 -m pip install wheel)" in line for line in lines),
         f"wheels.sh does not say that wheel is missing: {done.stderr}")
    must(done.returncode == 1 and not os.path.exists(environment["TS_PACKAGING"]), "wheels.sh went on without its tools")


def debian_wants_what_configure_wants():
    control = text_of("packaging", "debian", "control")
    for package in re.findall(r"TS_REQUIRE_(?:LIB|PROG)\(.*?\[(lib[\w-]+-dev|zlib1g-dev|protobuf-c-compiler)\]", text_of("configure.ac")):
        must(re.search(rf"\b{re.escape(package)}\b", control), f"packaging/debian/control does not name {package}")


def all_is_in_the_tarball():
    listed = text_of("packaging", "files.mk")
    for folder, folders, files in os.walk(PACKAGING):
        folders[:] = [f for f in folders if f != "__pycache__"]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), TOP)
            must(name == "files.mk" or re.search(rf"(^|\s){re.escape(path)}(\s|$)", listed), f"packaging/files.mk does not list {path}")


def faults_of_program(program, cpu):
    """What keeps it from being an ELF program of that machine which loads no library."""
    if program[:4] != b"\x7fELF":
        return ["is not an ELF program"]
    faults = []
    machine = struct.unpack_from("<H", program, 18)[0]
    if machine != MACHINES[cpu]:
        faults.append(f"is of machine {machine}, not {MACHINES[cpu]} ({cpu})")
    offset, size, count = struct.unpack_from("<Q", program, 32)[0], *struct.unpack_from("<HH", program, 54)
    parts = [struct.unpack_from("<IIQQQQ", program, offset + i * size) for i in range(count)]
    if any(part[0] == INTERP for part in parts):
        faults.append("asks for a loader of libraries")
    for kind, _, at, _, _, n in parts:
        needed = [struct.unpack_from("<qQ", program, at + i) for i in range(0, n, 16)] if kind == DYNAMIC else []
        if any(tag == NEEDED for tag, _ in needed):
            faults.append("binds libraries of the machine that it runs on")
    return faults


def a_program_that_binds_is_noticed():
    """The test's own Python, or what it runs: a program of this machine with the libraries of its distribution."""
    with open(os.path.realpath(sys.executable), "rb") as f:
        program = f.read()
    if program[:4] != b"\x7fELF" or os.uname().machine not in MACHINES:
        return
    mine = os.uname().machine
    other = next(cpu for cpu in MACHINES if cpu != mine)
    must(len(faults_of_program(program, mine)) == 2, "a program that binds libraries is not noticed")
    must(len(faults_of_program(program, other)) == 3, "a program of another machine is not noticed")
    must(faults_of_program(b"#!/bin/sh\n", mine), "a script in place of a program is not noticed")


def wheels_are_what_they_say(folder):
    wheels = glob.glob(os.path.join(folder, "*.whl"))
    must(wheels, f"TS_WHEELS: {folder} has no wheel")
    for path in wheels:
        name = os.path.basename(path)
        must(os.path.getsize(path) <= MOST_BYTES, f"{name} has {os.path.getsize(path)} bytes, more than {MOST_BYTES}")
        cpu = next((c for c in MACHINES if name.endswith(f"_{c}.whl")), None)
        must(cpu and "manylinux_2_17" in name and "musllinux_1_1" in name, f"{name} does not say manylinux_2_17 and musllinux_1_1")
        with zipfile.ZipFile(path) as z:
            has_its_parts(z, name)
            for part in (n for n in z.namelist() if ".data/scripts/" in n and cpu):
                for fault in faults_of_program(z.read(part), cpu):
                    must(False, f"{os.path.basename(part)} of {name} {fault}")


def main():
    libraries_are_those_of_configure()
    debian_wants_what_configure_wants()
    all_is_in_the_tarball()
    a_program_that_binds_is_noticed()
    with tempfile.TemporaryDirectory() as folder:
        missing_tools_are_named_at_once(folder)
    if os.environ.get("TS_WHEELS"):
        wheels_are_what_they_say(os.environ["TS_WHEELS"])
    try:
        import setuptools  # noqa: F401
        import wheel  # noqa: F401
    except ImportError:
        print("setuptools and wheel are missing: the metadata and the tags are not looked at (pip install setuptools wheel)")
    else:
        for part in (metadata_is_the_package, wheel_says_its_platforms):
            with tempfile.TemporaryDirectory() as folder:
                part(folder)
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
