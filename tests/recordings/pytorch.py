#!/usr/bin/env python3
"""Makes the replica of PyTorch's per-backend indexes and of ONNX Runtime's feeds that the tests serve on loopback.

    python pytorch.py FIXTURES TORCH_TOML PYPI_RECORDING.json.gz OUT.json.gz

FIXTURES: a folder with torch-family.jsonl, other-packages.jsonl and requires.jsonl, rows read from public lock files.
TORCH_TOML: for each release of torch its builds with the library pins that are known.
PYPI_RECORDING: what record.py wrote; METADATA that no public file quotes is made from PyPI's of the same release.

What is real and what is made is written in README.md. Needs Python 3.11.
"""
import gzip, hashlib, json, re, sys, tomllib

PYTHONS = {"cp310", "cp311", "cp312", "py3", "py2.py3"}
PLATFORMS = ("x86_64", "aarch64", "win_amd64", "any")
FAMILY = ("torch", "torchvision", "torchaudio")
LIBRARY = re.compile(r"^(nvidia-|triton|pytorch-triton|cuda-)")
# From this release on METADATA lies beside the wheels of the index.
SIDECARS_FROM = (2, 5)

# Builds that no public lock file in FIXTURES lists, but that a test needs; their sha256 is made from the file name.
MADE = [
    ("cu118", "torch", "2.3.1+cu118", "linux_x86_64"),
    ("cu118", "torchvision", "0.18.1+cu118", "linux_x86_64"),
    ("cu118", "torchaudio", "2.3.1+cu118", "linux_x86_64"),
    ("cu118", "torchaudio", "2.7.1+cu118", "manylinux_2_28_x86_64"),
    ("cu118", "torch", "2.3.1+cu118", "win_amd64"),
]
# In the root of all indexes, and so on every page (https://github.com/pytorch/pytorch/issues/193651).
LEAKED = [("torchaudio", "2.2.0", "linux_x86_64"), ("torch", "2.0.1", "manylinux2014_aarch64")]
# No checksum was stored for these (https://github.com/pytorch/pytorch/issues/153469).
WITHOUT_HASH = lambda row: row["version"] == "2.7.0+cu128" and "aarch64" in row["filename"]
# Which releases each feed has (https://github.com/microsoft/onnxruntime/issues/21684 and others), and of which release of
# PyPI their METADATA is.
FEEDS = {
    "onnxruntime-cuda-11": {"1.19.0": "1.19.0", "1.19.2": "1.19.2", "1.20.1": "1.20.0"},
    "onnxruntime-cuda-12": {"1.17.1": "1.17.1", "1.18.0": "1.18.0", "1.18.1": "1.18.1", "1.28.0": "1.28.0", "1.29.0": "1.29.0"},
    "onnxruntime-cuda-13": {"1.24.1": "1.24.1", "1.26.0": "1.26.0", "1.30.0": "1.30.0"},
}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def made_hash(filename):
    return hashlib.sha256(filename.encode()).hexdigest()


class Texts:
    """METADATA texts, equal ones stored once."""

    def __init__(self):
        self.all, self.places = [], {}

    def add(self, text):
        return self.places.setdefault(text, len(self.all)) if text in self.places else self._new(text)

    def _new(self, text):
        self.places[text] = len(self.all)
        self.all.append(text)
        return self.places[text]


class Maker:
    def __init__(self, fixtures, torch_toml, recording):
        self.rows = lines(f"{fixtures}/torch-family.jsonl")
        self.others = lines(f"{fixtures}/other-packages.jsonl")
        self.requires = {(r["name"], r["version"], r["index"]): r for r in lines(f"{fixtures}/requires.jsonl")}
        with open(torch_toml, "rb") as file:
            self.releases = {r["version"]: r for r in tomllib.load(file)["release"]}
        with gzip.open(recording) as file:
            self.pypi = json.load(file)
        self.texts = Texts()

    def pypi_metadata(self, name, release, platform):
        rows = [r for r in self.pypi["projects"][name] if r["filename"].split("-")[1] == release and "metadata" in r]
        same = [r for r in rows if platform in r["filename"]] or rows
        return self.pypi["metadata"][same[0]["metadata"]] if same else None

    def pins(self, release, backend):
        """The library pins of one build of torch: declared or locked ones of this release, else of the nearest older one."""
        read = self.requires.get(("torch", f"{release}+{backend}", backend))
        if read and any(LIBRARY.match(text) for text in read["requires"]):
            return [text for text in read["requires"] if LIBRARY.match(text)]
        number = lambda text: tuple(int(part) for part in text.split("."))
        older = sorted((v for v in self.releases if number(v) <= number(release)), key=number, reverse=True)
        for version in older:
            for variant in self.releases[version].get("variant", []):
                if variant["variant"] == backend and variant.get("pins"):
                    return [self.own_cudnn(pin, release, backend) for pin in variant["pins"]]
        return []

    def own_cudnn(self, pin, release, backend):
        """A pin of an older release, with the cuDNN that this release is known to be built with."""
        variants = self.releases.get(release, {}).get("variant", [])
        cudnn = next((v.get("cudnn") for v in variants if v["variant"] == backend), None)
        return re.sub(r"==[0-9.]+", f"=={cudnn}", pin, count=1) if cudnn and pin.startswith("nvidia-cudnn") else pin

    def metadata(self, row):
        """PyPI's METADATA of the release, with the version of the build and, for torch, the libraries of its backend."""
        release, _, label = row["version"].partition("+")
        platform = next(p for p in PLATFORMS if p in row["filename"])
        text = self.pypi_metadata(row["name"], release, platform)
        if text is None:
            return None
        text = text.replace(f"\nVersion: {release}\n", f"\nVersion: {row['version']}\n")
        if row["name"] == "torch" and label:
            kept = [line for line in text.splitlines() if not self.is_library(line)]
            # Up to 2.1 the CUDA builds of the indexes carry their libraries inside and pin none.
            if label.startswith("cu") and tuple(map(int, release.split(".")[:2])) >= (2, 2):
                kept += [f"Requires-Dist: {self.on_linux(pin)}" for pin in self.pins(release, label)]
            text = "\n".join(kept) + "\n"
        return text

    @staticmethod
    def is_library(line):
        return line.startswith("Requires-Dist: ") and LIBRARY.match(line.removeprefix("Requires-Dist: "))

    @staticmethod
    def on_linux(pin):
        return pin if ";" in pin else f'{pin}; platform_system == "Linux"'

    def row(self, source):
        row = {"filename": source["filename"]}
        if not WITHOUT_HASH(source):
            row["sha256"] = source.get("sha256") or made_hash(source["filename"])
        if source.get("upload_time"):
            row["upload-time"] = source["upload_time"]
        if source["name"] in FAMILY:
            text = self.metadata(source)
            if text is None:
                return None
            row["metadata"] = self.texts.add(text)
            number = tuple(int(part) for part in source["version"].partition("+")[0].split(".")[:2])
            row["sidecar"] = source["name"] == "torch" and number >= SIDECARS_FROM
        return row

    def indexes(self):
        backends = {r["index"] for r in self.rows if re.fullmatch("cpu|cu[0-9]{3}", r["index"])}
        found = {backend: {} for backend in sorted(backends)}
        kept = lambda r: any(p in r["platform_tag"] for p in PLATFORMS) and set(r["python_tag"].split(".")) & PYTHONS | {r["python_tag"]} & PYTHONS
        made = [
            {"index": index, "name": name, "version": version, "platform_tag": tag, "python_tag": python, "abi_tag": python,
             "filename": f"{name}-{version}-{python}-{python}-{tag}.whl"}
            for index, name, version, tag in MADE for python in ("cp310", "cp311", "cp312")
        ]
        for source in [*self.rows, *self.others, *made]:
            wanted = source["name"] in FAMILY or source in self.others
            if source["index"] not in found or not wanted or not kept(source):
                continue
            row = self.row(source)
            if row:
                found[source["index"]].setdefault(source["name"], []).append(row)
        root = {}
        for source in self.others:
            if source["index"] == "(root)" and kept(source):
                root.setdefault(source["name"], []).append(self.row(source))
        for name, version, tag in LEAKED:
            for python in ("cp310", "cp311"):
                source = {"name": name, "version": version, "filename": f"{name}-{version}-{python}-{python}-{tag}.whl"}
                root.setdefault(name, []).append(self.row(source))
        return found, root

    def feeds(self):
        found = {}
        for feed, releases in FEEDS.items():
            rows = []
            for version, like in releases.items():
                for python in ("cp310", "cp311", "cp312"):
                    for tag in ("manylinux_2_28_x86_64", "win_amd64"):
                        name = f"onnxruntime_gpu-{version}-{python}-{python}-{tag}.whl"
                        platform = "x86_64" if "linux" in tag else "win_amd64"
                        text = self.pypi_metadata("onnxruntime-gpu", like, platform)
                        text = text.replace(f"\nVersion: {like}\n", f"\nVersion: {version}\n")
                        rows.append({"filename": name, "sha256": made_hash(feed + name), "metadata": self.texts.add(text), "sidecar": False})
            found[feed] = {"onnxruntime-gpu": rows}
        return found


def main():
    fixtures, torch_toml, recording, out = sys.argv[1:]
    maker = Maker(fixtures, torch_toml, recording)
    indexes, root = maker.indexes()
    made = {"indexes": indexes, "root": root, "feeds": maker.feeds(), "metadata": maker.texts.all}
    for pages in [*indexes.values(), root]:
        for rows in pages.values():
            rows.sort(key=lambda row: row["filename"])
    packed = gzip.compress(json.dumps(made, sort_keys=True, separators=(",", ":")).encode(), 9, mtime=0)
    with open(out, "wb") as file:
        file.write(packed)
    print(f"{len(packed)} bytes, {len(maker.texts.all)} METADATA texts")
    for backend, pages in indexes.items():
        print(backend, {name: len(rows) for name, rows in pages.items()})


if __name__ == "__main__":
    main()
