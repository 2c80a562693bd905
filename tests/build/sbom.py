#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what a release is made of, as CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json): sbom.py [TOP]

The libraries that configure.ac asks for, in the versions that pkg-config finds here, with the package of a Debian-like system
they came in; the npm packages of the page's bundle and its bundler, from the lock file; the optional packages of the Python
plugin. No source of others is copied into the repository. TOP is the top of the sources. The time is SOURCE_DATE_EPOCH, else
that of the last commit, so one commit on one machine gives the same bytes. Only the standard library is used.
"""
import base64
import datetime
import json
import os
import re
import subprocess
import sys
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON_LICENCES = {
    "tensorboard": "Apache-2.0", "jax": "Apache-2.0", "torch": "BSD-3-Clause", "fsspec": "BSD-3-Clause", "gcsfs": "BSD-3-Clause",
    "s3fs": "BSD-3-Clause", "adlfs": "BSD-3-Clause", "ray": "Apache-2.0", "mcp": "MIT", "duckdb": "MIT", "ipykernel": "BSD-3-Clause",
    "matplotlib": "PSF-2.0", "cloudpickle": "BSD-3-Clause", "flatbuffers": "Apache-2.0",
    "pandas": "BSD-3-Clause", "pyarrow": "Apache-2.0",
}


def output(*command, default=""):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return default


def text_of(top, *path):
    with open(os.path.join(top, *path), encoding="utf-8") as f:
        return f.read()


def notices(top):
    """{name: its columns} of notices/list: name, how it is there, licence, what for, address."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text_of(top, "notices", "list").splitlines()
            if line and not line.startswith("#")]
    return {row[0]: row for row in rows}


def licensed(component, licence):
    component["licenses"] = [{"license": {"id": licence}}]
    return component


def libraries(configure):
    """[(name for pkg-config, Debian's package of its headers)]"""
    return re.findall(r"^TS_REQUIRE_LIB\(\[\w+\], \[([\w-]+)[^\]]*\], \[([\w-]+)\]", configure, re.M)


def library(name, package, licence):
    version = output("pkg-config", "--modversion", name)
    if not version:
        sys.exit(f"sbom.py: pkg-config knows no {name} here (install {package})")
    source = output("dpkg-query", "-W", "-f", "${source:Package}@${source:Version}", package)
    system = re.search(r"^ID=\"?(\w+)", output("cat", "/etc/os-release"), re.M)
    purl = f"pkg:deb/{system.group(1)}/{source}?arch=source" if source and system else f"pkg:generic/{name}@{version}"
    return licensed({"type": "library", "bom-ref": name, "name": name, "version": version, "scope": "required",
                     "purl": purl.replace("+", "%2B")}, licence)


def npm_packages(lock):
    """The bundled ones; what bundles them is there when a release is made, and not in it."""
    top = json.loads(lock)["packages"]
    for path, package in top.items():
        if not path or package.get("optional"):
            continue
        name = path.split("node_modules/")[-1]
        digest = base64.b64decode(package["integrity"].removeprefix("sha512-")).hex()
        yield licensed({"type": "library", "bom-ref": f"npm:{name}", "name": name, "version": package["version"],
                        "scope": "excluded" if package.get("dev") else "required", "hashes": [{"alg": "SHA-512", "content": digest}],
                        "purl": f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"}, package["license"])


def python_packages(project):
    wanted = re.search(r"^\[project\.optional-dependencies\]\n((?:.+\n)*)", project, re.M).group(1)
    for name in sorted(set(re.findall(r'"([\w-]+)[^"]*"', wanted))):
        yield licensed({"type": "library", "bom-ref": f"pypi:{name}", "name": name, "scope": "optional", "purl": f"pkg:pypi/{name}"},
                       PYTHON_LICENCES[name])


def timestamp(top):
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", top, "log", "-1", "--format=%ct", "--", ".")
    seconds = int(seconds or os.stat(os.path.join(top, "NEWS")).st_mtime)
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def bill(top):
    configure = text_of(top, "configure.ac")
    version = re.search(r"AC_INIT\(\[tpusight\], \[([^\]]+)\]", configure).group(1)
    known = notices(top)
    parts = [library(name, package, known[name][2]) for name, package in libraries(configure)]
    parts += npm_packages(text_of(top, "plugin", "page", "package-lock.json"))
    parts += python_packages(text_of(top, "plugin", "pyproject.toml"))
    whole = {"type": "application", "bom-ref": "tpusight", "name": "tpusight", "version": version,
             "purl": f"pkg:generic/tpusight@{version}"}
    needed = [part["bom-ref"] for part in parts if part["scope"] == "required"]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([whole, parts], sort_keys=True))}",
        "metadata": {"timestamp": timestamp(top), "component": whole}, "components": parts,
        "dependencies": [{"ref": "tpusight", "dependsOn": needed}, *({"ref": part["bom-ref"]} for part in parts)],
    }


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(HERE))
    print(json.dumps(bill(top), indent="\t"))


if __name__ == "__main__":
    main()
