#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes src/copy/library.c, the names of libraries' functions: library_names.py SITE_PACKAGES [TRACE_NAMES] >src/copy/library.c

SITE_PACKAGES has PyTorch for CUDA with NVIDIA's wheels (cuBLAS, cuDNN, cuSPARSE, cuFFT, NCCL) and Triton. Names are facts, and these are
read from what is shipped: the enumerations of CUPTI's and ROCm's callbacks, PyTorch's registry of ops, the symbols of kernels in the
libraries. TRACE_NAMES: kernels in public traces, one a line, of what is not among these: rocBLAS, hipBLASLt and MIOpen,
whose grammar is theirs alone, FBGEMM, vLLM.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import textwrap

HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * Names of libraries' functions, for copy/names: facts, read from what their makers ship by tests/copy/library_names.py, which writes this
 * file. From PyTorch 2.15 (its registry of ops and the symbols of its kernels: ATen, CUTLASS, CuTe, CUB, Thrust, flash attention,
 * NCCL), cuBLAS, cuDNN, cuSPARSE, cuFFT and cuSOLVER of CUDA 13.2 (symbols of kernels), CUPTI and ROCm (enumerations
 * of their callbacks), Tensile, MIOpen, FBGEMM and vLLM (kernels in public traces).
 */
#include "copy/words.h"

/* clang-format off */
'''
ARCHITECTURE = r"(cutlass\d*x?|sm\d+|volta|turing|ampere|hopper|maxwell|pascal|nvjet|cudnn|gemv|cublas)_\w+"
# Namespaces and functions made for one build, and lines of a compiler.
NOT_NAMES = re.compile(r"^(_V_|_nv_|__nv_|__T|_GLOBAL|__internal|CUB_\d|_INTERNAL)|\d{5}|[0-9a-f]{12}|_NS$")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def find(site, name):
    return next(iter(sorted(glob.glob(os.path.join(site, "**", name), recursive=True))))


def symbols(path):
    """What may be the name of a function in a library, once."""
    with open(path, "rb") as f:
        data = f.read()
    return sorted({s.decode() for s in re.findall(rb"(?<![\x20-\x7e])[A-Za-z_][A-Za-z0-9_]{5,}(?=\x00)", data)})


def kernels(names):
    """Identifiers in the kernels among C++ symbols, with how often each stands there: kernels that are templates say what they return."""
    mangled = "\n".join(n for n in names if n.startswith("_Z"))
    plain = subprocess.run(["c++filt"], input=mangled, capture_output=True, text=True, check=True).stdout
    return collections.Counter(word for line in plain.splitlines() if line.startswith("void ")
                               for word in re.findall(r"[A-Za-z_]\w*", line))


def calls(site):
    """Functions of the runtimes, without the version in their ends."""
    cuda = "".join(read(find(site, f"cupti_{part}_cbid.h")) for part in ("runtime", "driver"))
    names = set(re.findall(r"_TRACE_CBID_(cu\w+)", cuda))
    names |= set(re.findall(r"HIP_API_ID_(hip\w+|__hip\w+)", read(find(site, "hip_prof_str.h"))))
    return {re.sub(r"_v\d+$", "", re.sub(r"_(ptsz|ptds|spt)$", "", name)) for name in names}


def ops(site):
    code = "import torch; print(*torch._C._dispatch_get_all_op_names())"
    python = os.path.join(site, "..", "..", "..", "bin", "python")
    said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    return {word for name in said.split() for word in name.split(".")[0].split("::")}


def skeleton(piece):
    return re.sub(r"\d+", "#", piece)


def pieces(names, at_least):
    """Pieces of names between underscores, each number a '#': what a grammar of names is made of. Longer numbers stay as they are."""
    found = collections.Counter(p if re.search(r"\d{5}", p) else skeleton(p) for name in names for p in name.split("_"))
    return {p for p, n in found.items() if n >= at_least and re.search(r"[A-Za-z]{2}|[A-Za-z]#|#[A-Za-z]", p) and len(p) < 24}


def table(name, words):
    lines = textwrap.wrap(" ".join(sorted(words)), 100, break_long_words=False, break_on_hyphens=False)
    return f"const char *const {name}[] = {{\n" + "".join(f'\t"{line}",\n' for line in lines) + "\tNULL,\n};\n"


def main():
    site = sys.argv[1]
    traces = read(sys.argv[2]).splitlines() if len(sys.argv) > 2 else []
    torch = symbols(os.path.join(site, "torch", "lib", "libtorch_cuda.so"))
    nvidia = [n for lib in ("cublas", "cublasLt", "cudnn_*", "cufft", "cusparse", "cusolver", "nccl")
              for path in glob.glob(os.path.join(site, "nvidia", "*", "lib", f"lib{lib}.so.*")) for n in symbols(path)]
    words = {w for w, n in kernels(torch).items() if n >= 2} | {w for w, n in kernels(nvidia).items() if n >= 8}
    words |= {w for n in traces if "::" in n for w in re.findall(r"[A-Za-z_]\w*", n)}
    names = {w for w in words | calls(site) | ops(site) if len(w) > 2 and not NOT_NAMES.search(w)}
    parts = pieces([n for n in nvidia if re.fullmatch(ARCHITECTURE, n)], 60) | pieces([n for n in traces if re.fullmatch(r"\w+", n)], 2)
    print(HEAD + "/* Whole identifiers. */\n" + table("ts_library_names", names) +
          "\n/* Pieces of kernels' names between underscores; '#' is a number of at most four digits. */\n" +
          table("ts_library_pieces", parts) + "/* clang-format on */")


if __name__ == "__main__":
    main()
