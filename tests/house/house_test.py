#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says what was forgotten when something was added: house_test.py [TOP]

An analysis, a rule of the doctor, a chip, a reader, an output, a command and a threshold are a line in a list each. The
build and the golden cases notice much of what belongs to that line, but not its documentation, its advice or its test.
Every complaint below is one sentence that begins with the file to write.

KNOWN lists what is missing today, with the reason; a line that is no longer true is a complaint too. The second half
tests the test: each omission of PLANTS is put into a copy (in memory) of the sources and must be named.

TOP is the top of the sources (default: $srcdir, else two folders up from here). Only the standard library is used.
"""
import functools
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
XLA_ALONE = "its advice is about XLA's programs, which a profile of PyTorch does not have; JAX's text is shown"
TORCH_ALONE = "only profiles of PyTorch have what the rule reads; PyTorch's text is shown"
KNOWN = {
    ("advice", "torch", "capture"): "each cause has a text of its own; this one is for a cause without a text",
    ("advice", "torch", "infeed_outfeed"): XLA_ALONE,
    ("advice", "torch", "exposed_async"): XLA_ALONE,
    ("advice", "torch", "sparsecore_offload"): XLA_ALONE,
    ("advice", "torch", "matmul_fill"): XLA_ALONE,
    ("advice", "torch", "resharding"): XLA_ALONE,
    ("advice", "torch", "padding_waste"): XLA_ALONE,
    ("advice", "torch", "unfused"): XLA_ALONE,
    ("advice", "torch", "donation"): XLA_ALONE,
    ("advice", "torch", "unknown_cost"): XLA_ALONE,
    ("advice", "jax", "allocator_calls"): TORCH_ALONE,
    ("advice", "jax", "device_memory"): TORCH_ALONE,
    ("advice", "jax", "fragmentation"): TORCH_ALONE,
    ("advice", "jax", "out_of_memory"): TORCH_ALONE,
    ("advice", "jax", "torch_cuda_graphs"): TORCH_ALONE,
    ("advice", "jax", "torch_graph_breaks"): TORCH_ALONE,
    ("advice", "jax", "torch_recompilations"): TORCH_ALONE,
    ("advice", "jax", "torch_unfused"): TORCH_ALONE,
    ("analysis test", "compile_devices"): "it has no table of its own; compile_test.c tests what compile shows of it",
    ("rule test", "highest_precision"): "the doctor's hand-made run has no compiled product; systolic_test.c tests the six passes",
    ("output case", "html"): "the page differs from build to build; tests/page opens it in a browser",
}
KNOWN |= {
    ("place", "config"): "it is read with the options, before the program is confined",
    ("place", "logdir"): "only its name counts; nothing in it is opened",
}
HEAD = ["Answers", "Reads", "Facts of other analyses", "Shown in", "Code"]  # how the page of a view begins
NOT_VIEWS = {"doctor/rules"}  # pages in the folder of a family that are not a view
SOURCES = r"\b(cloud|tpuinfo|book|aot|xla|xprof|ds)\b"  # as named on top of src/hw/chips.c


CASES = r"tests/cases/[^/]*(/cmd|\.rows)"  # what golden cases run

# Files that a comment names and that are others'. Those of C++ (.cc, .cpp) all are; a .py without a folder is an example or theirs.
OTHERS = "|".join([
    r"(xla|tsl|xprof|plugin/xprof|trace_viewer|jax|torch|c10|libkineto|hta|third_party)/.*",  # below the top of that project
    r"(csrc/dynamo|_dynamo|_inductor|_functorch|_logging)/.*",  # PyTorch, below torch/
    r"_src/.*",  # JAX, below jax/
    r"common/trace\.py|(system_info|gpu)/gpu_\w+\.proto",  # HTA; Perfetto, below protos/perfetto/
    r"(hlo|op_metrics|xla_data|xplane|(proto/)?profile|profiler_\w+|smart_suggestion)\.proto",  # XLA, XProf and pprof
    r"doc/(riegeli_records_file_format|statuscodes)\.md|tpus\.md",  # Riegeli, gRPC, JAX's scaling-book
    r"docs/(reference/perfetto-manifest|visualization/commands-automation-reference)\.md",  # Perfetto
    r"xla_op_utils\.h",  # XLA
    r"((sys|linux)/\w+|stddef|stdio|stdlib|string|dlfcn|cmocka|igzip_lib)\.h",  # the system, its libraries
    r"[a-z]/[a-z]/model\.py|[a-z]\.c",  # examples
])
COMMENTS = {  # by the end of a file's name; what stands in quotes in C is passed over
    ".c": r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(/\*.*?\*/)',
    ".py": r'(^\s*[rR]?"""(?s:.*?)"""|(?:^|\s)\#.*)',
}
NAMED = r"(?<![\w/.*-])(?:[\w.-]+/)+[\w-]+\.(?:c|h|py|proto|md)\b(?![\w(/])|(?<![\w/.*-])[\w-]+\.(?:c|h|proto|md)\b(?![\w(/])"


@functools.lru_cache(maxsize=None)
def text_at(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def named_in(ending, text):
    """The files that the comments of a source name."""
    comments = re.findall(COMMENTS[ending], text, re.S if ending == ".c" else re.M)
    return sorted({os.path.normpath(name) for name in re.findall(NAMED, "\n".join(comments)) if not re.search(r"[A-Z]{4}", name)})


class House:
    """The sources, with some files changed: {path: text}; None is a file that is not there."""

    def __init__(self, top, changed=None, files=None):
        self.top, self.changed = top, changed or {}
        paths = set(files or self.walk())
        self.paths = (paths | set(self.changed)) - {path for path, text in self.changed.items() if text is None}

    def walk(self):
        for folder in ("src", "docs", "tests", "proto", "plugin", "packaging", "bench"):
            for where, folders, names in os.walk(os.path.join(self.top, folder)):
                folders[:] = [name for name in folders if name != "node_modules"]
                for name in names:
                    yield os.path.relpath(os.path.join(where, name), self.top)
        yield from ("README.md", "CONTRIBUTING.md")

    def has(self, path):
        return path in self.paths

    def text(self, path):
        if path not in self.paths:
            return ""
        if path in self.changed:
            return self.changed[path]
        return text_at(os.path.join(self.top, path))

    def find(self, pattern):
        return sorted(filter(re.compile(pattern).fullmatch, self.paths))

    def all_text(self, pattern):
        return "\n".join(self.text(path) for path in self.find(pattern))

    def list(self, path, macro):
        """The names of an X list."""
        found = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", self.text(path))
        return re.findall(r"\bX\((\w+)\s*[,)]", found.group(1)) if found else []


def complain_of_empty(names, path, what):
    if not names:
        yield ("list", path), f"{path}: no {what} was found in it; tests/house/house_test.py has to learn its new form."


def of_analyses(house):
    names = house.list("src/analysis/list.h", "TS_ANALYSES")
    index = house.text("docs/analyses/README.md")
    yield from complain_of_empty(names, "src/analysis/list.h", "analysis")
    family_of = {}
    for path in house.find(r"src/analysis/\w+/.*\.c"):
        for name in re.findall(r"^const struct ts_analysis ts_analysis_(\w+) =", house.text(path), re.M):
            family_of[name] = path.split("/")[2], path
    for name in names:
        if name not in family_of:
            yield ("analysis", name), f"src/analysis/list.h: no file of a family defines ts_analysis_{name}."
            continue
        family, source = family_of[name]
        page = f"docs/analyses/{family}/{name}.md"
        test = f"tests/analysis/{family}/{name}_test.c"
        if not house.has(page):
            yield ("analysis page", name), f"{page} is missing: write what the analysis {name} answers, reads and computes."
        else:
            yield from of_page(house, name, page, source)
        if f"({family}/{name}.md)" not in index:
            yield ("analysis index", name), f"docs/analyses/README.md: a line with [{name}]({family}/{name}.md) is missing."
        if not house.has(test):
            yield ("analysis test", name), f"{test} is missing: write a unit test of the analysis {name}."
    for page in house.find(r"docs/analyses/\w+/\w+\.md"):
        view = page[len("docs/analyses/"):-len(".md")]
        if view not in NOT_VIEWS and family_of.get(os.path.basename(view), ("",))[0] != os.path.dirname(view):
            yield ("stale page", view), f"{page}: there is no analysis of this name in src/analysis/{os.path.dirname(view)}."


def needs_of(house, source):
    """The analyses in the lists TS_NEEDS and TS_SHOWS of an analysis' file, or of the header that its files share."""
    header = source[:-2] + ".h"
    texts = house.text(source) + (house.text(header) if house.has(header) else "")
    lists = re.findall(r"#define TS_(?:NEEDS|SHOWS)\(X\)((?:[^\n]*\\\n)*[^\n]*)", texts)
    return sorted(set(re.findall(r"X\((\w+)\)", " ".join(lists))) - {os.path.basename(source)[:-2]})


def of_page(house, name, page, source):
    text = house.text(page)
    if not text.startswith(f"# `{name}`"):
        yield ("page title", name), f"{page}: its first line has to begin with the view's name, # `{name}`."
    for head in HEAD:
        if f"- **{head}:** " not in text:
            yield ("page head", name, head), f"{page}: the line \"- **{head}:** ...\" is missing in its head."
    needs = needs_of(house, source)
    said = re.search(r"^- \*\*Facts of other analyses:\*\* (.*)$", text, re.M)
    said = sorted(re.findall(r"`(\w+)`", said.group(1))) if said else needs
    if said != needs:
        yield ("page needs", name), (f"{page}: \"Facts of other analyses\" names {', '.join(said) or 'none'}, "
                                     f"TS_NEEDS in {source} or its header names {', '.join(needs) or 'none'}.")


def kinds_of_rules(house):
    """By rule: what its row in the docs says of it beside its name."""
    kinds = {}
    for path in house.find(r"src/analysis/.*\.c"):
        for rule in re.findall(r"^(?:static )?const struct ts_rule \w+ = \{\n(.*?)^\};", house.text(path), re.M | re.S):
            said = [re.search(r"\.name = \"(\w+)\"", rule).group(1)]
            said.append("headroom" if ".is_headroom = true" in rule else "cause")
            said += [word for member, word in (("is_rest", "rest"), ("symptom", "symptom")) if f".{member} = true" in rule]
            said += re.findall(r"\.confidence = TS_(\w+)", rule)
            said += ["always"] if ".keep = true" in rule else []
            kinds[said[0]] = ", ".join(said[1:]).lower()
    return kinds


def of_rules(house):
    headers = [path for path in house.find(r"src/analysis/doctor/.*\.h") if "#define TS_RULES(X)" in house.text(path)]
    rules = house.list(headers[0], "TS_RULES") if headers else []
    docs = house.text("docs/analyses/doctor/rules.md")
    tests = house.all_text(r"tests/analysis/.*\.(c|h|py)") + house.all_text(r"tests/(fixtures|truth|live)/.*\.(py|c)")
    tests += house.all_text(r"tests/data/planted/.*\.json")
    advice = {framework: advice_of(house, framework) for framework in ("jax", "torch")}
    kinds = kinds_of_rules(house)
    yield from complain_of_empty(rules, "src/analysis/doctor/doctor.h", "rule")
    for path in house.find(r"src/analysis/(?!doctor/).*\.c"):  # those that an analysis brings along
        rules = rules + re.findall(r"^static const struct ts_rule \w+ = \{\s*\.name = \"(\w+)\"", house.text(path), re.M)
    for rule in rules:
        if not re.search(rf"^\| `{rule}` \|", docs, re.M):
            yield ("rule docs", rule), f"docs/analyses/doctor/rules.md: a row for the rule {rule} is missing."
        elif len(re.findall(rf"^\| `{rule}` \|", docs, re.M)) > 1:
            yield ("rule docs twice", rule), f"docs/analyses/doctor/rules.md: the rule {rule} has two rows; make them one."
        said = re.search(rf"^\| `{rule}` \| ([^|]*) \|", docs, re.M)
        if said and kinds.get(rule, said.group(1)) != said.group(1):
            yield ("rule kind", rule), f"docs/analyses/doctor/rules.md: the kind of {rule} is {kinds[rule]}, not {said.group(1)}."
        if f'"{rule}"' not in tests:
            yield ("rule test", rule), (f"tests/analysis/doctor/rules/: no test and no planted run names the rule {rule}; "
                                        f"write one in which it fires and one in which it does not.")
        for framework, names in advice.items():
            if rule not in names:
                yield ("advice", framework, rule), (f"src/analysis/advice/{framework}/{rule}.py: the rule "
                                                    f"{rule} has no advice for {framework}.")
    for path in house.find(r"src/analysis/(doctor/.*|run/capture\w*)\.c"):
        pages = house.text("docs/analyses/run/capture.md") if "/run/" in path else docs
        pages += house.text("docs/analyses/doctor/doctor.md")
        for name in sorted(set(re.findall(r"settings->(\w+)", house.text(path)))):
            if f"`{name}`" not in pages:
                yield ("rule setting", name), (f"docs/analyses/doctor/rules.md: the threshold `{name}`, which {path} uses, "
                                               f"is not described.")
    for cause in causes_of(house):
        if f"| `{cause}` |" not in house.text("docs/analyses/run/capture.md"):
            yield ("cause", cause), f"docs/analyses/run/capture.md: a row for the cause {cause} is missing."


def advice_of(house, framework):
    """Rules with a text for users of this framework."""
    return {os.path.basename(path)[:-3] for path in house.find(rf"src/analysis/advice/{framework}/\w+\.py")}


def causes_of(house):
    names = set()
    for path in house.find(r"src/analysis/advice/(\w+/)?capture/(\w+/)?\w+\.(py|txt)"):
        name = os.path.splitext(os.path.basename(path))[0]
        names |= {name} if not name.startswith("_") else set()
    return sorted(names)


def of_chips(house):
    path, docs = "src/hw/chips.c", house.text("docs/analyses/chips.md")
    tests, words = house.all_text(r"tests/hw/.*\.c"), house.text("src/copy/words.c")
    table = re.search(r"chips\[NR_ROWS\] = \{\n(.*?)^\};", house.text(path), re.S | re.M)
    parts = re.findall(r"/\*.*?\*/|\n\n|\[\w+\] =\s*\w+\(\s*\"[^\"]*\"", table.group(1), re.S) if table else []
    names, comment, above = [], "", None
    yield from complain_of_empty(parts, path, "chip")
    for part in parts:
        row = re.match(r'\[\w+\] =\s*(\w+)\(\s*"([^"]*)"', part)
        if not row:
            comment = part if part.startswith("/*") else ""
            continue
        kind, name = row.groups()
        if not re.search(SOURCES, comment) and name != above:
            yield ("chip source", name), f"{path}: the comment above the row of {name} has to name the source of its figures."
        names.append(name)
        if kind == "TPU":  # a comment of its own for each; GPUs share one
            comment, above = "", name
    for name in sorted(set(names)):
        if f'"{name}"' not in tests:
            yield ("chip test", name), f"tests/hw/chips_test.c: no test expects the chip \"{name}\"."
        if f"| {name} |" not in docs:
            yield ("chip docs", name), f"docs/analyses/chips.md: the table of chips has no row | {name} |."
        for word in re.findall(r"[A-Za-z]+\d\w*", name):
            if not re.search(rf"[\" ]{word}[\" ]", words):
                yield ("chip word", word), f"src/copy/words.c: {word} is a public name of a chip and is not in the list."


def of_outputs(house):
    names, cases = house.list("src/write/list.h", "TS_OUTPUTS"), house.all_text(CASES)
    docs = house.text("docs/formats.md")
    yield from complain_of_empty(names, "src/write/list.h", "output")
    for name in names:
        plain = r"|^tpusight report [^-]*$" if name == "text" else ""
        used = [text for text in map(house.text, house.find(r"tests/cases/report[^/]*/cmd"))
                if re.search(rf"--format[= ]{name}\b{plain}", text, re.M)]
        if not used:
            yield ("output case", name), f"tests/cases/report-{name}/cmd is missing: a golden case that writes {name}."
        if f"| `{name}` |" not in docs:
            yield ("output docs", name), f"docs/formats.md: the table of outputs has no row | `{name}` |."
    if not cases:
        yield ("cases",), "tests/cases: there is no case at all."


def of_commands(house):
    names, cases = house.list("src/cli/list.h", "TS_COMMANDS"), house.all_text(CASES)
    docs = house.text("README.md") + house.all_text(r"docs/[^/]*\.md")
    yield from complain_of_empty(names, "src/cli/list.h", "command")
    for name in names:
        if not re.search(rf"tpusight[ -]{name} --help", cases):
            yield ("command help", name), f"tests/cases/help-{name}/cmd is missing: a golden case of tpusight {name} --help."
        if not re.search(rf"tpusight[ -]{name}\b", docs):
            yield ("command docs", name), f"README.md: a line with tpusight {name} is missing."


def of_options(house):
    """Confinement (src/cli/confined.c) opens only the places that it knows of."""
    for path in house.find(r"src/cli/.*\.[ch]"):
        for row in re.findall(r"\tTS_OPT_(?:TEXTS?|CALL)\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)", house.text(path)):
            name, value = (re.findall(r'"([^"]*)"', row) + [""])[:2]
            if value in ("FILE", "DIR", "OUT", "PATH", "FOLDER", "LOGDIR") and ".place =" not in row:
                yield ("place", name), f"{path}: the row of --{name} has a path and lacks .place (src/cli/option.h)."


def of_readers(house):
    names, docs = house.list("src/read/list.h", "TS_READERS"), house.text("docs/formats.md")
    targets = house.text("tests/fuzz/files.mk")
    yield from complain_of_empty(names, "src/read/list.h", "reader")
    for name in names:
        if not house.has(f"tests/fuzz/{name}.c"):
            yield ("reader fuzz", name), f"tests/fuzz/{name}.c is missing: a fuzz target for the reader {name}."
        if f"tests/fuzz/{name}_replay" not in targets:
            yield ("reader target", name), f"tests/fuzz/files.mk: tests/fuzz/{name}_replay is missing in fuzz_replays."
        if not house.find(rf"tests/fuzz/seeds/{name}/.+"):
            yield ("reader seeds", name), f"tests/fuzz/seeds/{name}/ is missing: small inputs, good and damaged."
        if f"| `{name}` |" not in docs:
            yield ("reader docs", name), f"docs/formats.md: the table of inputs has no row | `{name}` |."


def thresholds_of(house):
    """The file that lists them and their names: rows of a table, or an X list."""
    for path in house.find(r"src/analysis/settings\w*\.[ch]"):
        names = re.findall(r"^\tROW\((\w+),", house.text(path), re.M) or house.list(path, "TS_SETTINGS")
        if names:
            return path, names
    return "src/analysis/settings.c", []


def of_thresholds(house):
    (path, names), docs = thresholds_of(house), house.all_text(r"docs/.*\.md")
    yield from complain_of_empty(names, path, "threshold")
    for name in names:
        if f"`{name}`" not in docs:
            yield ("threshold", name), f"docs/analyses/doctor/rules.md: the threshold `{name}` is described nowhere in docs/."


def of_links(house):
    for path in house.find(r"docs/.*\.md|README\.md|CONTRIBUTING\.md"):
        text = re.sub(r"^```.*?^```", "", house.text(path), flags=re.S | re.M)  # code shows links, too
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            target = os.path.normpath(os.path.join(os.path.dirname(path), link))
            known = house.has(target) or os.path.exists(os.path.join(house.top, target))
            if not re.match(r"\w+:", link) and not (known and house.changed.get(target, "") is not None):
                yield ("link", path, link), f"{path}: the link to {link} leads nowhere."


def of_paths(house):
    """Files that a page names, as `src/model/cost*.c`. Capital words are placeholders."""
    folders = {os.path.dirname(path) for path in house.paths}
    folders |= {os.path.dirname(folder) for folder in folders}
    for page in house.find(r"docs/(?!adding/).*\.md|README\.md|CONTRIBUTING\.md"):
        text = re.sub(r"^```.*?^```", "", house.text(page), flags=re.S | re.M)
        for path in sorted(set(re.findall(r"`((?:src|tests|docs)/[\w./*-]+)`", text))):
            if re.search(r"[A-Z]{3}", path) or path.endswith((".js", ".ts")):  # the page's own start in plugin/page
                continue
            path = path.rstrip("/")
            found = house.has(path) or path in folders or house.has(path + ".c")
            if not found and not ("*" in path and house.find(re.escape(path).replace(r"\*", "[^/]*"))):
                yield ("path", page, path), f"{page}: there is no {path}; it was moved or renamed."


def of_comments(house):
    """Files that a comment names, from any folder above them: `kit/rule.h`, `rule.h`; `_facts.c` is short for one that ends so."""
    ends = {path[at:] for path in house.paths for at in (0, *(found.end() for found in re.finditer("/", path)))}
    tails = {end[end.index("_"):] for end in ends if re.fullmatch(r"[a-z]\w*_\w+\.[ch]", end)}
    tails |= {tail[at.start():] for tail in tails for at in re.finditer("_", tail)}
    for path in house.find(r"(src|tests/(?!(data|cases|fuzz/seeds)/)).*\.(c|h|py)"):
        for name in named_in(".py" if path.endswith(".py") else ".c", house.text(path)):
            if name not in ends and name not in tails and not re.fullmatch(OTHERS, name):
                yield ("comment", path, name), f"{path}: a comment names {name}, which is not there; it was moved or renamed."


CHECKS = [of_analyses, of_rules, of_chips, of_outputs, of_commands, of_options, of_readers, of_thresholds, of_links, of_paths, of_comments]


def complaints(house):
    found = {}
    for check in CHECKS:
        found.update(check(house))
    stale = [key for key in KNOWN if key not in found]
    found = {key: sentence for key, sentence in found.items() if key not in KNOWN}
    for key in stale:
        found[("known",) + key] = f"tests/house/house_test.py: {key} is no longer missing; take it out of KNOWN."
    return found


def put(path, before, after):
    """A change of one file: the first BEFORE becomes AFTER."""
    def change(house):
        text = house.text(path)
        assert before in text, f"{path} has no {before!r}"
        return {path: text.replace(before, after, 1)}
    return change


def new(path, text):
    return lambda house: {path: text}


def gone(path):
    return lambda house: {path: None}


CRUMBS = "#define TS_NEEDS(X) X(ops)\n#include \"analysis/kit/needs.h\"\nconst struct ts_analysis ts_analysis_crumbs = { 0 };\n"
PAGE = "# `crumbs`: x\n\n" + "".join(f"- **{head}:** none\n" for head in HEAD)
# What is planted, and the beginnings of the complaints that must follow.
PLANTS = [
    ([put("src/analysis/list.h", "X(overview)", "X(crumbs) X(overview)"), new("src/analysis/waits/crumbs.c", CRUMBS)],
     ["docs/analyses/waits/crumbs.md is missing", "docs/analyses/README.md: a line with [crumbs]",
      "tests/analysis/waits/crumbs_test.c is missing"]),
    ([put("src/analysis/list.h", "X(overview)", "X(crumbs) X(overview)"), new("src/analysis/waits/crumbs.c", CRUMBS),
      new("docs/analyses/waits/crumbs.md", PAGE)],
     ["docs/analyses/waits/crumbs.md: \"Facts of other analyses\" names none, "
      "TS_NEEDS in src/analysis/waits/crumbs.c or its header names ops"]),
    ([put("src/analysis/list.h", "X(overview)", "X(crumbs) X(overview)")], ["src/analysis/list.h: no file of a family"]),
    ([put("docs/analyses/time/gaps.md", "# `gaps`", "# Gaps")], ["docs/analyses/time/gaps.md: its first line"]),
    ([put("docs/analyses/time/gaps.md", "**Answers:**", "**Says:**")], ["docs/analyses/time/gaps.md: the line \"- **Answers"]),
    ([new("docs/analyses/time/crumbs.md", PAGE)], ["docs/analyses/time/crumbs.md: there is no analysis"]),
    ([lambda house: rule_planted(house)],
     ["docs/analyses/doctor/rules.md: a row for the rule crumbs", "tests/analysis/doctor/rules/: no test",
      "src/analysis/advice/jax/crumbs.py|src/analysis/doctor/advice.c",
      "src/analysis/advice/torch/crumbs.py|src/analysis/doctor/advice_torch.c"]),
    ([put("docs/analyses/doctor/rules.md", "| `idle` | cause, rest, ", "| `idle` | cause, ")],
     ["docs/analyses/doctor/rules.md: the kind of idle is cause, rest, likely, not"]),
    ([new("src/analysis/doctor/rules/crumbs.c", "x = doctor->ctx->settings->crumbs_high;")],
     ["docs/analyses/doctor/rules.md: the threshold `crumbs_high`, which"]),
    ([put("docs/analyses/run/capture.md", "| `ran_on_cpu` |", "| cpu |")],
     ["docs/analyses/run/capture.md: a row for the cause ran_on_cpu"]),
    ([put("src/hw/chips.c", "[V2] = TPU(\"TPU v2\"", "[V19] = TPU(\"TPU v19\", 0),\n\t[V2] = TPU(\"TPU v2\"")],
     ["tests/hw/chips_test.c: no test", "docs/analyses/chips.md: the table", "src/copy/words.c: v19",
      "src/hw/chips.c: the comment above the row of TPU v2"]),
    ([put("src/write/list.h", "X(text)", "X(crumbs) X(text)")],
     ["tests/cases/report-crumbs/cmd is missing", "docs/formats.md: the table of outputs"]),
    ([put("src/cli/list.h", "X(report)", "X(crumbs) X(report)")],
     ["tests/cases/help-crumbs/cmd is missing", "README.md: a line with tpusight crumbs"]),
    ([put("src/cli/report.h", ".place = TS_PLACE_WRITTEN", "")], ["src/cli/report.h: the row of --output has a path"]),
    ([put("src/read/list.h", "X(chrome)", "X(crumbs) X(chrome)")],
     ["tests/fuzz/crumbs.c is missing", "tests/fuzz/files.mk: tests/fuzz/crumbs_replay", "tests/fuzz/seeds/crumbs/ is missing",
      "docs/formats.md: the table of inputs"]),
    ([lambda house: threshold_planted(house)],
     ["docs/analyses/doctor/rules.md: the threshold `crumbs_low`"]),
    ([gone("docs/analyses/clocks.md")], ["docs/analyses/README.md: the link to clocks.md leads nowhere"]),
    ([gone("src/model/host_event.c")], ["docs/analyses/compile/cache.md: there is no src/model/host_event.c"]),
    ([new("src/model/crumbs.c", "/* See kit/crumbs.h, kit/rule.h, crumbs.c, xla/crumbs.h and _crumbs.c. */ \"/* a/crumbs.h */\"")],
     ["src/model/crumbs.c: a comment names kit/crumbs.h", "src/model/crumbs.c: a comment names _crumbs.c"]),
    ([new("tests/model/crumbs.py", "x = 1  \x23 as crumbs.proto and model/crumbs.py have it\n")],
     ["tests/model/crumbs.py: a comment names crumbs.proto"]),
    ([put("src/analysis/list.h", "#define TS_ANALYSES(X)", "#define TS_OTHERS(X)")], ["src/analysis/list.h: no analysis was found"]),
    ([new("src/analysis/advice/torch/unfused.py", "")], ["tests/house/house_test.py: ('advice', 'torch', 'unfused') is no longer missing"]),
]


def threshold_planted(house):
    """A threshold of this name before the first one, as a row or as an item of an X list."""
    path, names = thresholds_of(house)
    macro = re.search(rf"\t(\w+)\({names[0]},", house.text(path)).group(1)
    row, end = f'\t{macro}(crumbs_low, "%", 1, "")', ",\n" if macro == "ROW" else " \\\n"
    return put(path, f"\t{macro}({names[0]},", f"{row}{end}\t{macro}({names[0]},")(house)


def rule_planted(house):
    path = next(path for path in house.find(r"src/analysis/doctor/.*\.h") if "#define TS_RULES(X)" in house.text(path))
    return {path: re.sub(r"(#define TS_RULES\(X\)\s*\\\n)", r"\1\tX(crumbs) \\\n", house.text(path), count=1)}


def forgotten(house, before):
    """The plants that nothing complains of."""
    for changes, wanted in PLANTS:
        changed = {}
        for change in changes:
            changed.update(change(house))
        found = complaints(House(house.top, changed, house.paths))
        said = [sentence for key, sentence in found.items() if key not in before]
        for words in wanted:
            if not any(sentence.startswith(tuple(words.split("|"))) for sentence in said):
                yield f"tests/house/house_test.py: an omission was planted and not named: {words}; it said {said}"


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("srcdir") or os.path.dirname(os.path.dirname(HERE))
    house = House(top)
    found = complaints(house)
    for sentence in found.values():
        print(sentence)
    missed = list(forgotten(house, found))
    for sentence in missed:
        print(sentence)
    print(f"{len(found)} omissions; {len(KNOWN)} known; {len(PLANTS)} planted, {len(missed)} of them not named")
    return 1 if found or missed else 0


if __name__ == "__main__":
    sys.exit(main())
