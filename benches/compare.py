"""Whole runs beside other tools, in pairs.

    python benches/compare.py                      # every tool on PATH that is known here, on the recorded index
    python benches/compare.py --index URL          # on another index, such as a replay of PyPI
    python benches/compare.py --bin DIR ...        # tools in DIR/bin of a virtual environment

Each round runs this program and the other one after the other on the same requirements, so what else the machine does
strikes both. pip and pip-compile resolve for the Python they run on, and write no hashes here. The ratio is the median of
the rounds' ratios. Times are of the whole process. Nothing but Python's standard library is needed. Memory is the peak
resident set of the process and its children.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDING = ROOT / "tests/recordings/index-2026-11-30.json.gz"
PYTHON = "3.11"

SETS = {
    "train": ["torch", "torchvision", "torchaudio", "onnx", "numpy"],
    "language models": ["torch==2.6.0", "transformers", "accelerate", "datasets"],
}

# Each mode: what is done to the cache before a run, and the flags of either side.
MODES = {
    "cold": {"clear": True, "ours": [], "uv": []},
    "warm": {"clear": False, "ours": [], "uv": []},
    "offline": {"clear": False, "ours": ["--offline"], "uv": ["--offline"]},
    "refresh": {"clear": False, "ours": ["--refresh"], "uv": ["--refresh"]},
}


class Side:
    """A program with a folder of its own for its cache."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.cache = folder / "cache"
        self.home = folder / "home"
        self.home.mkdir(parents=True)

    def clear(self):
        shutil.rmtree(self.cache, ignore_errors=True)

    def run(self, mode):
        """Seconds, peak memory in MiB and the exit code of one run."""
        self.prepare()
        environment = dict(os.environ, HOME=str(self.home), NO_COLOR="1")
        for key in list(environment):
            if key.startswith(("UV_", "PIP_", "CUDA_LOCK_", "XDG_")):
                del environment[key]
        start = time.perf_counter()
        child = subprocess.Popen(
            self.command(mode), cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        return seconds, usage.ru_maxrss / 1024, child.returncode, errors.decode(errors="replace")

    def prepare(self):
        """What must not be there before a run."""


class Ours(Side):
    def __init__(self, binary, folder, requirements, index):
        super().__init__("cuda-lock", folder)
        self.binary = binary
        lines = ["[environment]", f'python = "{PYTHON}"', f"dependencies = {json.dumps(requirements)}"]
        lines += ["[machine]", 'platform = "linux-x86_64"', 'glibc = "2.36"']
        lines += ["[[index]]", 'name = "bench"', f'url = "{index}"', "default = true"]
        lines += ["[options]", 'only-indexes = ["bench"]']
        (folder / "env.toml").write_text("\n".join(lines) + "\n")

    def prepare(self):
        for name in ("pylock.toml", "requirements.txt"):
            (self.folder / name).unlink(missing_ok=True)

    def command(self, mode):
        return [self.binary, "resolve", "--quiet", "--cache-dir", self.cache, *MODES[mode]["ours"]]


class Listed(Side):
    """Tools that read a list of requirements."""

    def __init__(self, name, binary, folder, requirements, index):
        super().__init__(name, folder)
        self.binary, self.index = binary, index
        (folder / "in.txt").write_text("\n".join(requirements) + "\n")

    def prepare(self):
        (self.folder / "out.txt").unlink(missing_ok=True)


class Uv(Listed):
    modes = list(MODES)

    def command(self, mode):
        return [
            self.binary, "pip", "compile", "in.txt", "-o", "out.txt", "--generate-hashes", "--quiet", "--no-header",
            "--index-url", self.index, "--python-version", PYTHON, "--python-platform", "x86_64-manylinux_2_36",
            "--cache-dir", self.cache, "--no-config", "--no-build", *MODES[mode]["uv"],
        ]  # fmt: skip


class Pip(Listed):
    modes = ["cold"]

    def command(self, mode):
        return [
            self.binary, "install", "--dry-run", "--quiet", "--ignore-installed", "--no-input", "--report", "out.json",
            "--disable-pip-version-check", "--index-url", self.index, "--cache-dir", self.cache, "-r", "in.txt",
            "--only-binary", ":all:",
        ]  # fmt: skip


class PipCompile(Listed):
    modes = ["cold"]

    def command(self, mode):
        return [
            self.binary, "in.txt", "-o", "out.txt", "--quiet", "--no-header", "--rebuild", "--strip-extras", "--no-emit-index-url",
            "--index-url", self.index, "--cache-dir", self.cache,
        ]  # fmt: skip


class Project(Side):
    """Tools that lock a pyproject.toml."""

    modes = ["cold"]

    def __init__(self, name, binary, folder, requirements, index):
        super().__init__(name, folder)
        self.binary = binary
        text = f'[project]\nname = "bench"\nversion = "0"\nrequires-python = "=={PYTHON}.*"\n'
        text += f"dependencies = {json.dumps(requirements)}\n"
        if name == "poetry":
            text += f'[tool.poetry]\npackage-mode = false\n[[tool.poetry.source]]\nname = "bench"\nurl = "{index}"\npriority = "primary"\n'
        else:
            text += f'[[tool.pdm.source]]\nname = "pypi"\nurl = "{index}"\nverify_ssl = false\n'
        (folder / "pyproject.toml").write_text(text)

    def prepare(self):
        for name in ("poetry.lock", "pdm.lock"):
            (self.folder / name).unlink(missing_ok=True)

    def clear(self):
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()

    def command(self, mode):
        return [self.binary, "lock", "--quiet"] if self.name == "pdm" else [self.binary, "lock", "--quiet", "--no-interaction"]


def peer(name, binary, folder, requirements, index):
    made = {"uv": Uv, "pip": Pip, "pip-compile": PipCompile}.get(name)
    if made:
        return made(name, binary, folder, requirements, index)
    return Project(name, binary, folder, requirements, index)


def find(name, folders):
    for folder in folders:
        path = pathlib.Path(folder) / "bin" / name
        if path.exists():
            return str(path)
    return shutil.which(name)


def serve(latency):
    """The recorded index on loopback: its process and its address."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "cuda-lock-testing", "--example", "serve", "--", str(RECORDING)]
    child = subprocess.Popen([*command, "--latency", str(latency)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return child, child.stdout.readline().strip()


def measure(ours, other, mode, rounds, accepted):
    """Medians of both sides, the median ratio of the rounds, and the peaks."""
    for side in (ours, other):
        if not MODES[mode]["clear"]:
            _, _, code, errors = side.run("cold")
            if code not in accepted:
                return f"{side.name} left with {code}: {errors.strip().splitlines()[-1:]}"
    times = {ours: [], other: []}
    peaks = {ours: 0.0, other: 0.0}
    for number in range(rounds):
        for side in (ours, other) if number % 2 == 0 else (other, ours):
            if MODES[mode]["clear"]:
                side.clear()
            seconds, peak, code, errors = side.run(mode)
            if code not in accepted:
                return f"{side.name} left with {code}: {errors.strip().splitlines()[-1:]}"
            times[side].append(seconds)
            peaks[side] = max(peaks[side], peak)
    ratio = statistics.median(a / b for a, b in zip(times[ours], times[other]))
    return {
        "ours": statistics.median(times[ours]),
        "other": statistics.median(times[other]),
        "ratio": ratio,
        "ours_mib": peaks[ours],
        "other_mib": peaks[other],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", help="the address of an index; the recorded one is served when none is given")
    parser.add_argument("--latency", type=int, default=0, help="milliseconds that the recorded index waits with each answer")
    parser.add_argument("--bin", action="append", default=[], help="a virtual environment with other tools")
    parser.add_argument("--requirements", action="append", default=[], help="a file with requirements, instead of the built-in sets")
    parser.add_argument("--tools", default="uv,pip,pip-compile,poetry,pdm")
    parser.add_argument("--modes", default="cold,warm,offline,refresh")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--refusals", action="store_true", help="a refusal is an answer too; neither side looks for fixes then")
    parser.add_argument("--binary", default=str(ROOT / "target/release/cuda-lock"))
    args = parser.parse_args()
    sets = dict(SETS)
    if args.requirements:
        lines = lambda path: [line.split("#")[0].strip() for line in pathlib.Path(path).read_text().splitlines()]
        sets = {pathlib.Path(path).stem: [line for line in lines(path) if line] for path in args.requirements}
    server, index = (None, args.index) if args.index else serve(args.latency)
    print("| set | run | beside | ours ms | other ms | ours / other | ours MiB | other MiB |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    try:
        for title, requirements in sets.items():
            for tool in args.tools.split(","):
                binary = find(tool, args.bin)
                if not binary:
                    print(f"{tool} is not installed", file=sys.stderr)
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    places = [pathlib.Path(folder) / name for name in ("ours", "other")]
                    for place in places:
                        place.mkdir()
                    ours = Ours(args.binary, places[0], requirements, index)
                    other = peer(tool, binary, places[1], requirements, index)
                    for mode in args.modes.split(","):
                        if mode not in other.modes:
                            continue
                        found = measure(ours, other, mode, args.rounds, {0, 1} if args.refusals else {0})
                        if isinstance(found, str):
                            print(f"{title}, {mode}: {found}", file=sys.stderr)
                            continue
                        print(
                            f"| {title} | {mode} | {tool} | {found['ours'] * 1000:.0f} | {found['other'] * 1000:.0f} "
                            f"| {found['ratio']:.2f} | {found['ours_mib']:.0f} | {found['other_mib']:.0f} |",
                            flush=True,
                        )
    finally:
        if server:
            server.kill()


if __name__ == "__main__":
    main()
