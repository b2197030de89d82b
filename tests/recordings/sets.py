#!/usr/bin/env python3
"""Records what resolvers ask of a simple index for the requirement sets of sets.toml, and uv's answers on the recording.

    python sets.py record --seed DIR INDEX_URL sets-DATE.json.gz -- PROGRAM...   # each PROGRAM: "uv" or a path of cuda-lock
    python sets.py answer sets-DATE.json.gz > sets-answers.toml                 # uv asks the recording

`record` stands between the programs and the index, as record_asked.py does. Only wheels are passed on, and only what was
uploaded before the date in sets.toml. Of each project those releases are kept whose METADATA was asked for, every release
between the newest and the oldest of them, and the newest few. METADATA is read once per release, unless a program asked for
that of several wheels. `answer` lets uv resolve each set. Needs Python 3.11, `packaging` and uv.
"""
import argparse, concurrent.futures, gzip, http.server, json, os, re, subprocess, sys, tempfile, threading, tomllib

from packaging.version import Version

import record
from record_asked import Kept, handler, version_of

HERE = os.path.dirname(os.path.abspath(__file__))
NEWEST = 6
MOST = 60
UV_PLATFORMS = {"linux-x86_64": "x86_64-manylinux_2_28", "linux-aarch64": "aarch64-manylinux_2_28",
                "windows-x86_64": "x86_64-pc-windows-msvc", "macos-arm64": "aarch64-apple-darwin"}
TAGS = {"linux-x86_64": r"(manylinux.*|linux)_x86_64", "linux-aarch64": r"(manylinux.*|linux)_aarch64",
        "windows-x86_64": r"win_amd64", "macos-arm64": r"macosx_.*_(arm64|universal2)"}


def sets():
    with open(os.path.join(HERE, "sets.toml"), "rb") as file:
        table = tomllib.load(file)
    return table["before"], table["set"]


def uv(entry, requirements, index, folder):
    """uv's answer, as lines NAME==VERSION; None when it has none."""
    with open(os.path.join(folder, "requirements.in"), "w") as file:
        file.write("\n".join(requirements) + "\n")
    command = ["uv", "pip", "compile", "requirements.in", "--no-build", "--python-version", entry["python"], "-q",
               "--python-platform", UV_PLATFORMS[entry["platform"]], "--default-index", index, "--cache-dir", "cache",
               "--no-header", "--no-annotate", "--no-config", "--no-python-downloads"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_"))}
    answer = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, timeout=600)
    if answer.returncode not in (0, 1):
        raise RuntimeError(answer.stderr)
    if answer.returncode == 1:
        return None
    return sorted(line.split(" ")[0] for line in answer.stdout.splitlines() if line)


def cuda_lock(program, entry, requirements, index, folder):
    glibc = 'glibc = "2.28"\n' if entry["platform"].startswith("linux") else ""
    with open(os.path.join(folder, "env.toml"), "w") as file:
        file.write(f'[environment]\nname = "set"\npython = "{entry["python"]}"\ndependencies = {json.dumps(requirements)}\n\n'
                   f'[machine]\nplatform = "{entry["platform"]}"\n{glibc}\n[[index]]\nname = "set"\nurl = "{index}"\ndefault = true\n\n'
                   f'[options]\nonly-indexes = ["set"]\n')
    env = dict(os.environ, CUDA_LOCK_CACHE_DIR=os.path.join(folder, "cache"))
    subprocess.run([program, "resolve", "--dry-run"], cwd=folder, env=env, capture_output=True, timeout=60)


class Wheels(Kept):
    """Pages without sdists and without what came later; METADATA asked for is remembered apart from what is filled in."""

    def __init__(self, index, seed, before, entries):
        super().__init__(index, seed)
        self.before, self.asked, self.whole = before, set(), {}
        self.targets = sorted({(e["python"], e["platform"]) for e in entries})

    def fits(self, filename):
        pythons, abis, platforms = (part.split(".") for part in filename[: -len(".whl")].split("-")[-3:])
        for python, platform in self.targets:
            short = "cp" + python.replace(".", "")
            minor = int(python.split(".")[1])
            tag = any(p in ("py3", "py2.py3", "py" + python.replace(".", ""), short) and a in ("none", short) or
                      p.startswith("cp3") and p[3:].isdigit() and int(p[3:]) <= minor and a == "abi3" for p in pythons for a in abis)
            if tag and ("any" in platforms or any(re.fullmatch(TAGS[platform], one) for one in platforms)):
                return True
        return False

    def page(self, name):
        with self.lock:
            if name in self.whole:
                return self.whole[name]
        page = super().page(name)
        if page is not None:
            files = [f for f in page["files"] if f["filename"].endswith(".whl") and f["filename"].count("-") in (4, 5)
                     and version_of(f["filename"]) and (f.get("upload-time") or "") < self.before and self.fits(f["filename"])]
            page = {"files": files}
        with self.lock:
            self.pages[name], self.whole[name] = page and page["files"], page
        return page

    def text(self, name, filename):
        self.asked.add((name, filename))
        return super().text(name, filename)

    def releases(self, name):
        found = {}
        for file in self.pages[name]:
            found.setdefault(version_of(file["filename"]), []).append(file["filename"])
        return found

    def wanted(self, name):
        """The releases to keep."""
        releases = self.releases(name)
        asked = {version_of(filename) for project, filename in self.asked if project == name}
        stable = sorted(v for v in releases if not v.is_prerelease) or sorted(releases)
        kept = asked | set(stable[-NEWEST:])
        if asked:
            between = [v for v in stable if min(asked) <= v]
            kept |= set(between[-MOST:])
        return [(v, releases[v]) for v in sorted(kept & releases.keys())]

    def fill(self):
        jobs = []
        for name in [n for n, files in self.pages.items() if files]:
            for _, filenames in self.wanted(name):
                if not any(filename in self.texts for filename in filenames):
                    jobs.append((name, filenames[0]))
        print(f"{len(jobs)} texts to fill in", file=sys.stderr)
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            list(pool.map(lambda job: Kept.text(self, *job), jobs))

    def save(self, path):
        order, texts, projects = {}, [], {}
        for name in sorted(n for n, files in self.pages.items() if files is not None):
            rows, files = [], {f["filename"]: f for f in self.pages[name]}
            for _, filenames in self.wanted(name):
                shared = next((self.texts[f] for f in filenames if f in self.texts), None)
                for filename in sorted(filenames) if shared is not None else []:
                    text = self.texts.get(filename, shared)
                    if text not in order:
                        order[text] = len(texts)
                        texts.append(text)
                    row = {"filename": filename, "requires-python": files[filename].get("requires-python"),
                           "yanked": files[filename].get("yanked") or None, "metadata": order[text]}
                    rows.append({key: value for key, value in row.items() if value is not None})
            projects[name] = rows
        raw = json.dumps({"projects": projects, "metadata": texts}, indent=0, sort_keys=True).encode()
        with open(path, "wb") as file:
            file.write(gzip.compress(raw, 9, mtime=0))
        count = sum(map(len, projects.values()))
        print(f"{len(projects)} projects, {count} files, {len(texts)} texts, {os.path.getsize(path)} bytes", file=sys.stderr)


class Server(http.server.ThreadingHTTPServer):
    """Resolvers open dozens of connections at once."""
    request_queue_size = 256


class Recorded:
    """A recording, as `handler` asks for it."""

    def __init__(self, path):
        with gzip.open(path) as file:
            packed = json.load(file)
        self.rows, self.metadata = packed["projects"], packed["metadata"]

    def page(self, name):
        return {"files": self.rows[name]} if name in self.rows else None

    def text(self, name, filename):
        row = next((row for row in self.rows.get(name, []) if row["filename"] == filename), None)
        return row and self.metadata[row["metadata"]]


def serve(source):
    server = Server(("127.0.0.1", 0), handler(source))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/simple/"


def run_all(programs, entries, index):
    for entry in entries:
        wanted = entry["dependencies"]
        for requirements in (wanted, wanted[::-1]) if len(wanted) > 1 else (wanted,):
            for program in programs:
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        uv(entry, requirements, index, folder) if program == "uv" else cuda_lock(program, entry, requirements, index, folder)
                    except subprocess.TimeoutExpired:
                        print(f"{entry['name']}: {program} took too long", file=sys.stderr)
        print(entry["name"], file=sys.stderr, flush=True)


def make(given):
    before, entries = sets()
    kept = Wheels(given.index, given.seed, before, entries)
    run_all([p for p in given.programs if p != "--"], entries, serve(kept))
    kept.fill()
    kept.save(given.out)


def answers(given):
    _, entries = sets()
    index = serve(Recorded(given.recording))
    print(f"# What {subprocess.run(['uv', '--version'], capture_output=True, text=True).stdout.split(' (')[0].strip()} answers on the recording. Made by sets.py.")
    for entry in entries:
        with tempfile.TemporaryDirectory() as folder:
            found = uv(entry, entry["dependencies"], index, folder)
        pins = "none = true" if found is None else "pins = [\n" + "".join(f'    "{pin}",\n' for pin in found) + "]"
        print(f"\n[{entry['name']}]\n{pins}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(required=True)
    one = commands.add_parser("record")
    one.add_argument("--seed", required=True, help="a folder for what is fetched")
    one.add_argument("index")
    one.add_argument("out")
    one.add_argument("programs", nargs=argparse.REMAINDER)
    one.set_defaults(run=make)
    two = commands.add_parser("answer")
    two.add_argument("recording")
    two.set_defaults(run=answers)
    given = arguments.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
