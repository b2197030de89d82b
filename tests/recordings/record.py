#!/usr/bin/env python3
"""Makes a small recording of a simple index for the tests.

    python record.py INDEX_URL OUT.json.gz [--wanted FILE] [--seed DIR]

INDEX_URL is a simple repository that answers in JSON (PEP 691), such as https://index.example/simple. Which projects,
releases, Pythons and platforms are kept is written in record.toml beside this file, or in FILE. Needs Python 3.11 and `packaging`.

Kept of each file: name, sha256, size, requires-python, yanked, upload time. Kept of each METADATA: its headers, without
Description, Classifier and the like; equal texts are stored once. METADATA is read from the sidecar file, else from the
wheel's tail by HTTP ranges, once per release, build and platform (the wheels of one release for several Pythons share it).
A release that is only an sdist keeps its PKG-INFO when the sdist is small.

--seed DIR: pages (DIR/simple/NAME.json) and texts (DIR/meta/FILE.metadata) fetched earlier; what is fetched is added.
"""
import argparse, concurrent.futures, fnmatch, gzip, hashlib, http.client, io, json, os, re, sys, tarfile, threading, time, tomllib
import urllib.parse, zipfile

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
KEPT_HEADERS = ("Metadata-Version", "Name", "Version", "Requires-Python", "Provides-Extra", "Requires-Dist", "Dynamic")
MARKER_PLATFORMS = {
    "linux-x86_64": ("linux", "Linux", "x86_64", "posix"),
    "linux-aarch64": ("linux", "Linux", "aarch64", "posix"),
    "windows-x86_64": ("win32", "Windows", "AMD64", "nt"),
    "macos-arm64": ("darwin", "Darwin", "arm64", "posix"),
}
SMALL_SDIST = 1 << 20


kept = threading.local()


def answer_of(url, headers):
    """One GET on this thread's connection to the host; redirects are followed."""
    for _ in range(8):
        parts = urllib.parse.urlsplit(url)
        connections = kept.__dict__.setdefault("connections", {})
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = connections.setdefault(parts.netloc, kind(parts.netloc, timeout=60))
        try:
            connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            connections.pop(parts.netloc).close()
            raise
        if answer.status not in (301, 302, 303, 307, 308):
            return answer.status, answer.headers, body
        url = urllib.parse.urljoin(url, answer.headers["Location"])
    raise OSError(f"{url}: too many redirects")


def fetch(url, headers=None, tries=5):
    """(status, headers, body) of a GET; a missing file is a status, a failing server is tried again."""
    for attempt in range(tries):
        try:
            status, found, body = answer_of(url, headers or {})
            if status < 400 or status in (403, 404, 416):
                return status, found, body if status < 400 else b""
            failure = OSError(f"{url}: answered {status}")
        except (OSError, http.client.HTTPException) as error:
            failure = error
        time.sleep(0.5 * 2**attempt)
    raise failure


class RangeFile(io.RawIOBase):
    """The end of a remote file, read once; earlier parts on demand."""

    TAIL = 1 << 15

    def __init__(self, url, size):
        self.url, self.size, self.position, self.parts = url, size, 0, []
        self.part(max(0, size - self.TAIL), size)

    def part(self, start, end):
        status, _, body = fetch(self.url, {"Range": f"bytes={start}-{end - 1}"})
        if status != 206:
            raise OSError(f"{self.url}: range answered {status}")
        self.parts.append((start, body))

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.position

    def seek(self, offset, whence=0):
        self.position = offset + (0, self.position, self.size)[whence]
        return self.position

    def read(self, count=-1):
        end = self.size if count is None or count < 0 else min(self.size, self.position + count)
        start = self.position
        if start >= end:
            return b""
        if not any(at <= start and end <= at + len(body) for at, body in self.parts):
            self.part(start, min(self.size, max(end, start + (1 << 14))))
        for at, body in self.parts:
            if at <= start and end <= at + len(body):
                self.position = end
                return body[start - at : end - at]
        raise OSError(f"{self.url}: short answer to a range")

    def readinto(self, buffer):
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def metadata_of_wheel(row):
    """METADATA of a wheel: the sidecar, else the zip's tail."""
    if row.get("core-metadata") or row.get("data-dist-info-metadata"):
        status, _, body = fetch(row["url"] + ".metadata")
        if status == 200:
            return body
    names = zipfile.ZipFile(RangeFile(row["url"], row["size"]))
    wanted = [n for n in names.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA")]
    return names.read(min(wanted, key=len))


def pkg_info_of_sdist(row):
    """PKG-INFO of a small .tar.gz."""
    _, _, body = fetch(row["url"])
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as archive:
        names = [n for n in archive.getnames() if n.endswith("/PKG-INFO") and n.count("/") == 1]
        return archive.extractfile(names[0]).read()


def headers_only(text):
    """The headers a resolver reads, in their order, folded lines included."""
    kept, keeping = [], False
    for line in text.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"):
        if not line:
            break
        if line[0] not in " \t":
            keeping = line.partition(":")[0].title() in KEPT_HEADERS
        if keeping:
            kept.append(line)
    return "\n".join(kept) + "\n"


class Wanted:
    """What record.toml asks for."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.table = tomllib.load(file)
        # A closed recording has the projects that are named and no others: requirements on others are left out.
        names = {canonicalize_name(Requirement(text).name) for text in self.table["roots"] + self.table["also"]}
        self.closed = names if self.table.get("closed") else None

    def is_outside(self, requirement):
        name = canonicalize_name(requirement.name)
        return self.closed is not None and not any(fnmatch.fnmatch(name, known) for known in [*self.closed, *self.table["elsewhere"]])

    def releases(self, name):
        """The releases that are kept, where they are listed one by one."""
        listed = self.table.get("releases", {}).get(name)
        return listed and {Version(text) for text in listed.split()}

    def since(self, name):
        for pattern, version in self.table["since"].items():
            if fnmatch.fnmatch(name, pattern):
                return Version(version)
        return None

    def platforms(self, name):
        wide = any(fnmatch.fnmatch(name, pattern) for pattern in self.table["wide"])
        return self.table["wide-platforms" if wide else "platforms"]

    def wheel_group(self, name, filename):
        """None for a wheel that is not kept, else the key of the wheels that share its METADATA."""
        parts = filename[: -len(".whl")].split("-")
        if len(parts) not in (5, 6):
            return None
        build = parts[2] if len(parts) == 6 else ""
        pythons, abis, platforms = (part.split(".") for part in parts[-3:])
        if not any(self.python_fits(python, abi) for python in pythons for abi in abis):
            return None
        if "any" in platforms:
            return parts[1], build, "any"
        for platform in self.platforms(name):
            system, _, machine = platform.partition("-")
            for tag in platforms:
                if system == "linux" and re.fullmatch(rf"(manylinux.*|linux)_{machine}", tag):
                    return parts[1], build, platform
                if system == "windows" and tag == "win_amd64":
                    return parts[1], build, platform
                if system == "macos" and re.fullmatch(rf"macosx_.*_({machine}|universal2)", tag):
                    return parts[1], build, platform
        return None

    def python_fits(self, python, abi):
        if python == "py3":
            return abi == "none"
        for version in self.table["pythons"]:
            if python == "cp" + version and abi in ("cp" + version, "abi3", "none"):
                return True
            older = re.fullmatch(r"cp3(\d+)", python)
            if older and abi == "abi3" and int(older[1]) <= int(version[1:]):
                return True
        return False

    def environments(self):
        for python in self.table["pythons"]:
            for platform in self.table["wide-platforms"]:
                sys_platform, system, machine, os_name = MARKER_PLATFORMS[platform]
                short = f"{python[0]}.{python[1:]}"
                yield {"python_version": short, "python_full_version": short + ".9", "os_name": os_name,
                       "sys_platform": sys_platform, "platform_system": system, "platform_machine": machine,
                       "platform_python_implementation": "CPython", "implementation_name": "cpython",
                       "implementation_version": short + ".9", "platform_release": "", "platform_version": ""}


class Recorder:
    def __init__(self, index, wanted, seed):
        self.index, self.wanted, self.seed = index.rstrip("/"), wanted, seed
        self.projects, self.texts, self.extras, self.required = {}, {}, {}, {}
        self.lock, self.pool = threading.Lock(), concurrent.futures.ThreadPoolExecutor(16)
        self.fetched = 0

    def stored(self, path, make):
        """A text of the seed folder, made and added when it is not there."""
        path = os.path.join(self.seed, path) if self.seed else None
        if path and os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
        body = make()
        self.fetched += 1
        if path:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(body)
        return body

    def page(self, name):
        def make():
            status, _, body = fetch(f"{self.index}/{name}/", {"Accept": JSON_TYPE})
            return body if status == 200 else b"null"

        return json.loads(self.stored(f"simple/{name}.json", make))

    def walk(self):
        ask = [Requirement(text) for text in self.wanted.table["roots"] + self.wanted.table["also"]]
        while ask:
            names = set()
            for requirement in ask:
                name = canonicalize_name(requirement.name)
                known = self.extras.setdefault(name, set())
                if name not in self.projects or not requirement.extras <= known:
                    names.add(name)
                known |= requirement.extras
            found = list(self.pool.map(self.project, sorted(names)))
            ask = [requirement for requirements in found for requirement in requirements]
            print(f"{len(self.projects)} projects, {len(self.texts)} texts, {self.fetched} fetched", file=sys.stderr)

    def project(self, name):
        """Records one project; the requirements of its kept files for the Pythons and platforms asked for."""
        if name not in self.projects:
            page = self.page(name)
            self.projects[name] = self.rows(name, page) if page else None
        found = {}
        for row in self.projects[name] or []:
            for requirement in self.requirements(row.get("metadata")) if self.wanted.closed is None else []:
                key = str(requirement)
                if key not in found and self.applies(requirement, self.extras[name]):
                    found[key] = requirement
        return list(found.values())

    def requirements(self, digest):
        if digest is None:
            return []
        if digest not in self.required:
            lines = [l[len("Requires-Dist:"):].strip() for l in self.texts[digest].split("\n") if l.lower().startswith("requires-dist:")]
            parsed = []
            for line in lines:
                try:
                    parsed.append(Requirement(line))
                except InvalidRequirement:
                    print(f"left out: {line}", file=sys.stderr)
            self.required[digest] = parsed
        return self.required[digest]

    def applies(self, requirement, extras):
        if requirement.url:
            return False
        if requirement.marker is None:
            return True
        return any(requirement.marker.evaluate({**environment, "extra": extra})
                   for environment in self.wanted.environments() for extra in sorted(extras) + [""])

    def rows(self, name, page):
        releases = {}
        for file in page["files"]:
            filename = file["filename"]
            if filename.endswith(".whl"):
                version = filename.split("-")[1]
            elif filename.endswith(".tar.gz"):
                version = filename[: -len(".tar.gz")].rpartition("-")[2]
            else:
                continue
            try:
                releases.setdefault(Version(version), []).append(file)
            except InvalidVersion:
                continue
        kept = sorted(v for v in releases if not v.is_prerelease or name.startswith("nvidia-"))
        since, listed = self.wanted.since(name), self.wanted.releases(name)
        if listed:
            kept = sorted(listed & releases.keys())
        elif since is not None:
            kept = [v for v in kept if v >= since]
        else:
            usable = [v for v in kept if any(f["filename"].endswith(".whl") and
                                             self.wanted.wheel_group(name, f["filename"]) for f in releases[v])]
            kept = usable[-self.wanted.table["newest"]:]
        rows, shared = [], {}
        for version in kept:
            groups = {f["filename"]: self.wanted.wheel_group(name, f["filename"]) for f in releases[version]
                      if f["filename"].endswith(".whl")}
            for file in sorted(releases[version], key=lambda f: f["filename"]):
                filename = file["filename"]
                if filename.endswith(".whl"):
                    if groups[filename] is None:
                        continue
                    group = groups[filename]
                    if group not in shared:
                        shared[group] = self.text(f"meta/{filename}.metadata", lambda: metadata_of_wheel(file))
                    digest = shared[group]
                else:
                    digest = None
                    if not groups and (file.get("size") or SMALL_SDIST) < SMALL_SDIST:
                        digest = self.text(f"meta/{filename}.metadata", lambda: pkg_info_of_sdist(file))
                rows.append(self.row(file, digest))
        return rows

    def closed(self, text):
        """The text without requirements on projects that a closed recording leaves out."""
        def stays(line):
            field, _, value = line.partition(":")
            try:
                return field.lower() != "requires-dist" or not self.wanted.is_outside(Requirement(value.strip()))
            except InvalidRequirement:
                return False

        return "".join(line for line in text.splitlines(keepends=True) if self.wanted.closed is None or stays(line))

    def text(self, path, make):
        try:
            text = self.closed(headers_only(self.stored(path, make)))
        except (OSError, zipfile.BadZipFile, tarfile.TarError, IndexError, ValueError) as error:
            print(f"no METADATA: {path}: {error!r}", file=sys.stderr)
            return None
        digest = hashlib.sha256(text.encode()).hexdigest()
        with self.lock:
            self.texts[digest] = text
        return digest

    @staticmethod
    def row(file, digest):
        row = {"filename": file["filename"], "sha256": file["hashes"].get("sha256"), "size": file.get("size"),
               "requires-python": file.get("requires-python"), "yanked": file.get("yanked") or None,
               "upload-time": file.get("upload-time"), "metadata": digest}
        return {key: value for key, value in row.items() if value is not None}

    def save(self, path):
        order, texts = {}, []
        for name in sorted(self.projects):
            for row in self.projects[name] or []:
                digest = row.get("metadata")
                if digest is not None and digest not in order:
                    order[digest] = len(texts)
                    texts.append(self.texts[digest])
                if digest is not None:
                    row["metadata"] = order[digest]
        body = {"projects": {n: rows for n, rows in sorted(self.projects.items()) if rows is not None}, "metadata": texts}
        raw = json.dumps(body, indent=0, sort_keys=True).encode()
        with open(path, "wb") as file:
            file.write(gzip.compress(raw, 9, mtime=0))
        print(f"{len(texts)} texts, {sum(len(r or []) for r in self.projects.values())} files, {len(raw)} bytes", file=sys.stderr)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("index")
    arguments.add_argument("out")
    here = os.path.dirname(os.path.abspath(__file__))
    arguments.add_argument("--wanted", default=os.path.join(here, "record.toml"))
    arguments.add_argument("--seed")
    given = arguments.parse_args()
    recorder = Recorder(given.index, Wanted(given.wanted), given.seed)
    recorder.walk()
    recorder.save(given.out)


if __name__ == "__main__":
    main()
