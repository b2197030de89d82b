"""How time and memory grow with the size of the problem.

    python benches/growth.py

Indexes of growing size are made and served on loopback. Each run is repeated with everything in the cache; the processor
time of the process is taken, the least of the rounds, and its peak memory. The exponent is the slope between the two
largest sizes on a logarithmic scale: 1 is linear.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def serve(projects, releases):
    command = ["cargo", "run", "--release", "--quiet", "-p", "cuda-lock-testing", "--example", "serve", "--"]
    child = subprocess.Popen([*command, f"made:{projects}:{releases}"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return child, child.stdout.readline().strip()


def manifest(index, requirements, targets):
    lines = ["[environment]", 'python = "3.11"', f"dependencies = {json.dumps(requirements)}"]
    lines += ["[machine]", 'platform = "linux-x86_64"']
    for number in range(targets if targets > 1 else 0):
        lines += [f"[target.t{number}]", f'python = "3.{9 + number % 5}"']
    lines += ["[[index]]", 'name = "made"', f'url = "{index}"', "default = true"]
    lines += ["[options]", 'only-indexes = ["made"]']
    return "\n".join(lines) + "\n"


def run(binary, folder, offline):
    command = [binary, "resolve", "--quiet", "--dry-run", "--cache-dir", "cache", *(["--offline"] if offline else [])]
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"{command} left with {child.returncode}"
    return (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024


def point(binary, projects, releases, direct, targets, rounds):
    server, index = serve(projects, releases)
    try:
        with tempfile.TemporaryDirectory() as folder:
            step = max(projects // direct, 1)
            requirements = [f"p{number}" for number in range(0, projects, step)][:direct]
            (pathlib.Path(folder) / "env.toml").write_text(manifest(index, requirements, targets))
            run(binary, folder, False)
            times, peaks = zip(*(run(binary, folder, True) for _ in range(rounds)))
            return min(times), max(peaks)
    finally:
        server.kill()


def slope(sizes, values):
    (a, b), (x, y) = sizes[-2:], values[-2:]
    return math.log(y / x) / math.log(b / a)


def table(title, sizes, measure):
    print(f"| {title} | ms of processor time | peak MiB |\n| ---: | ---: | ---: |")
    found = []
    for size in sizes:
        found.append(measure(size))
        print(f"| {size} | {found[-1][0]:.1f} | {found[-1][1]:.1f} |", flush=True)
    times, peaks = zip(*found)
    print(f"| exponent | {slope(sizes, times):.2f} | {slope(sizes, peaks):.2f} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/cuda-lock"))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    measure = lambda **size: point(args.binary, rounds=args.rounds, **size)
    table("direct requirements", [10, 30, 100, 300], lambda n: measure(projects=n, releases=20, direct=n, targets=1))
    table("targets", [1, 2, 4, 8, 16], lambda n: measure(projects=100, releases=20, direct=100, targets=n))
    table("releases per project", [10, 100, 1000, 5000], lambda n: measure(projects=20, releases=n, direct=20, targets=1))


if __name__ == "__main__":
    main()
