#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the linker made of the flags against exploits, read from the programs themselves: hardening_test.py [PROGRAM...]

Each installed program must be position independent, have its tables of addresses read-only before main() (RELRO, BIND_NOW),
no segment that is written and run, no stack that is run, code apart from data, guards of the stack, checked copies
(_FORTIFY_SOURCE) and no search path for libraries; with CET's marks where the compiler and the C library have them. What is asked
for is what configure found (HARDENING_CFLAGS, HARDENING_LDFLAGS in the Makefile). At the end small programs are built without each
flag, and the test must see that it is missing.
Run in the build folder. A build with --disable-hardening or a sanitizer is passed over.
"""
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import skip

ET_DYN, PT_LOAD, PT_DYNAMIC, PT_GNU_PROPERTY, PT_GNU_STACK, PT_GNU_RELRO = 3, 1, 2, 0x6474E553, 0x6474E551, 0x6474E552
EXECUTABLE, WRITABLE = 1, 2
DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_RPATH, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS, DT_FLAGS_1 = 5, 6, 10, 15, 24, 29, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000
X86_FEATURES, IBT_AND_SHSTK = 0xC0000002, 3
ENDBR64 = b"\xf3\x0f\x1e\xfa"


class Elf:
    """An ELF file of 64 bits, little-endian (System V ABI, gABI 4.1)."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = f.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not an ELF file of 64 bits")
        (self.type,) = struct.unpack_from("<H", self.bytes, 16)
        (table,) = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        # type, flags, offset, address, physical address, bytes in the file, bytes in memory, alignment
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, table + i * size) for i in range(count)]
        self.dynamic = {}
        for _, _, offset, _, _, n, _, _ in self.of_type(PT_DYNAMIC):
            for tag, value in struct.iter_unpack("<qQ", self.bytes[offset:offset + n - n % 16]):
                self.dynamic.setdefault(tag, value)

    def of_type(self, kind):
        return [s for s in self.segments if s[0] == kind]

    def at(self, address):
        """Where the file has what is at ADDRESS."""
        return next(s[2] + address - s[3] for s in self.of_type(PT_LOAD) if s[3] <= address < s[3] + s[5])

    def symbols(self):
        """Names that the program has from libraries, or gives them."""
        begin = self.at(self.dynamic[DT_STRTAB])
        return set(self.bytes[begin:begin + self.dynamic[DT_STRSZ]].decode("ascii", "replace").split("\0"))

    def landing_pads(self):
        return sum(self.bytes[s[2]:s[2] + s[5]].count(ENDBR64) for s in self.of_type(PT_LOAD) if s[1] & EXECUTABLE)

    def x86_features(self):
        for _, _, offset, _, _, n, _, _ in self.of_type(PT_GNU_PROPERTY):
            at = offset + 16  # the note's head and its name, "GNU"
            while at + 12 <= offset + n:
                kind, size = struct.unpack_from("<II", self.bytes, at)
                if kind == X86_FEATURES:
                    return struct.unpack_from("<I", self.bytes, at + 8)[0]
                at += 8 + (size + 7) // 8 * 8
        return 0


def faults(path, asked):
    """What a program lacks of ASKED, the words of the flags."""
    elf = Elf(path)
    loads, flags, flags_1 = elf.of_type(PT_LOAD), elf.dynamic.get(DT_FLAGS, 0), elf.dynamic.get(DT_FLAGS_1, 0)
    names, stacks = elf.symbols(), elf.of_type(PT_GNU_STACK)
    checks = [
        ("-pie", elf.type == ET_DYN and flags_1 & DF_1_PIE, "it is not position independent"),
        ("relro", elf.of_type(PT_GNU_RELRO), "its tables stay writable (no RELRO)"),
        ("now", flags & DF_BIND_NOW or flags_1 & DF_1_NOW or DT_BIND_NOW in elf.dynamic, "functions are bound when called (no BIND_NOW)"),
        ("noexecstack", stacks and not any(s[1] & EXECUTABLE for s in stacks), "its stack can be run"),
        ("separate-code", not any(s[1] & EXECUTABLE and s[2] == 0 for s in loads), "code stands in one segment with data"),
        ("-fstack-protector", "__stack_chk_fail" in names, "its stack has no guard"),
        ("_FORTIFY_SOURCE", any(re.fullmatch(r"__\w+_chk", n) and n != "__stack_chk_fail" for n in names), "its copies are not checked"),
        ("-fcf-protection", elf.landing_pads() > 20, "its functions do not begin where a call may lead (CET)"),
        ("CET", elf.x86_features() & IBT_AND_SHSTK == IBT_AND_SHSTK, "it has no marks for CET"),
        ("", not any(s[1] & EXECUTABLE and s[1] & WRITABLE for s in loads), "a segment is written and run"),
        ("", DT_RPATH not in elf.dynamic and DT_RUNPATH not in elf.dynamic, "it looks for libraries in a folder of its own"),
    ]
    return [text for flag, good, text in checks if flag in asked and not good]


def variable(name):
    with open("Makefile", encoding="utf-8") as f:
        found = re.search(rf"^{name} = *(.*)$", f.read(), re.M)
    return found.group(1) if found else ""


SOURCE = """#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[16], other[16];

	(void)argc;
	(void)scanf("%15s", other);
	strcpy(text, argv[0] + strlen(other));
	return puts(text);
}
""" + "".join(f"int function_{i}(int x) {{ return x + {i}; }}\n" for i in range(20))


def build(folder, name, compile_flags, link_flags):
    """A program, or None where the compiler does not know the flags."""
    source, program = os.path.join(folder, "p.c"), os.path.join(folder, name)
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    cc = shlex.split(variable("CC"))
    done = subprocess.run([*cc, "-O2", "-w", *compile_flags, source, "-o", program, *link_flags], capture_output=True, check=False)
    return program if done.returncode == 0 else None


def planted(asked, compile_flags, link_flags):
    """(how many, complaints): a program without one of the flags must be found out."""
    without = {"-fPIE": (["-fno-PIE"], ["-no-pie"]), "relro": ([], ["-Wl,-z,norelro"]), "now": ([], ["-Wl,-z,lazy"]),
               "noexecstack": ([], ["-Wl,-z,execstack"]), "separate-code": ([], ["-Wl,-z,noseparate-code"]),
               "-fstack-protector-strong": (["-fno-stack-protector"], []), "_FORTIFY_SOURCE": (["-U_FORTIFY_SOURCE"], []),
               "-fcf-protection": (["-fcf-protection=none"], []), "rpath": ([], ["-Wl,-rpath,/nowhere"])}
    missed, nr = [], 0
    with tempfile.TemporaryDirectory() as folder:
        whole = build(folder, "whole", compile_flags, link_flags)
        if not whole or faults(whole, asked):
            return 0, [f"a small program with all flags has faults: {whole and faults(whole, asked)}"]
        for flag, (more_compile, more_link) in without.items():
            program = build(folder, "without", compile_flags + more_compile, link_flags + more_link)
            if not program or (flag not in asked and flag != "rpath"):
                continue
            nr += 1
            if not faults(program, asked):
                missed.append(f"a program without {flag} was built, and the test does not see it")
    return nr, missed


def main():
    compile_flags, link_flags = shlex.split(variable("HARDENING_CFLAGS")), shlex.split(variable("HARDENING_LDFLAGS"))
    asked = " ".join(compile_flags + link_flags)
    if not asked:
        skip("this build has no hardening (--disable-hardening, or a sanitizer)")
    programs = sys.argv[1:] or variable("bin_PROGRAMS").replace("$(EXEEXT)", "").split()
    own = variable("CFLAGS")
    if "-O" not in own or "-O0" in own:
        asked = asked.replace("_FORTIFY_SOURCE", "")
    with tempfile.TemporaryDirectory() as folder:  # the C library may have no marks, and then no program has
        plain = build(folder, "plain", compile_flags, link_flags)
        if "-fcf-protection" in asked and plain and not faults(plain, "CET"):
            asked += " CET"
    wrong = [f"{program}: {text}" for program in programs for text in faults(program, asked)]
    nr, missed = planted(asked, compile_flags, link_flags)
    for text in wrong + missed:
        print(text)
    print(f"{len(programs)} programs; asked: {asked}; {nr} faults planted, {len(missed)} of them not seen")
    return 1 if wrong or missed or nr == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
