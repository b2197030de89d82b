#!/usr/bin/env python3
"""Checks an installed environment against its lock: versions, libraries that load, and that the GPU is used.

Written by cuda-lock from a lock; needs nothing but Python 3.8. Run it with the Python of the environment:

    python verify.py                 a table; exit 1 when something failed
    python verify.py --format json   the same for programs
"""

import ctypes
import importlib
import importlib.metadata
import json
import os
import re
import sys

LOCK = json.loads("{}")  # the lock

OK, FAILED, SKIPPED = "ok", "failed", "skipped"


class Report:
    """Rows of the table."""

    def __init__(self):
        self.rows = []

    def add(self, check, status, detail=""):
        self.rows.append({"check": check, "status": status, "detail": " ".join(str(detail).split())})

    def verdict(self, check, failed, detail):
        self.add(check, FAILED if failed else OK, detail)

    def ok(self):
        return all(row["status"] != FAILED for row in self.rows)


def numbers(text):
    """The numbers of a version: of 535.104.05 they are 535, 104 and 5."""
    return [int(part) for part in re.findall(r"\d+", text or "")]


def older(version, minimum):
    left, right = numbers(version), numbers(minimum)
    width = max(len(left), len(right))
    return left + [0] * (width - len(left)) < right + [0] * (width - len(right))


def same_version(left, right):
    """Equality by PEP 440 for what wheels really have: case, a leading v, and zeros at the end do not count."""

    def normal(text):
        text = text.strip().lower().lstrip("v").replace("_", ".").replace("-", ".")
        public, _, local = text.partition("+")
        return re.sub(r"(\.0+)+$", "", public), local

    return normal(left) == normal(right)


def check_python(report):
    here = "%d.%d" % sys.version_info[:2]
    wanted = ".".join(LOCK["python"].split(".")[:2])
    report.verdict("Python", here != wanted, here if here == wanted else "%s, the lock is for %s" % (here, wanted))


def check_packages(report):
    wrong = 0
    for package in LOCK["packages"]:
        name, wanted = package["name"], package["version"]
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong += 1
            report.add(name, FAILED, "not installed, %s is locked" % wanted)
            continue
        if not found or not same_version(found, wanted):
            wrong += 1
            report.add(name, FAILED, "%s is installed, %s is locked" % (found, wanted))
    if not wrong:
        report.add("packages", OK, "%d as locked" % len(LOCK["packages"]))


def load(path):
    """None when a library loads, so that those which need it find it; else what the loader says."""
    try:
        ctypes.CDLL(path, mode=getattr(ctypes, "RTLD_GLOBAL", 0))
        return None
    except OSError as error:
        return str(error)


def check_libraries(report):
    waiting = []
    for library in LOCK["libraries"]:
        try:
            dist = importlib.metadata.distribution(library["package"])
        except importlib.metadata.PackageNotFoundError:
            continue  # said of the package already
        path = str(dist.locate_file(library["folder"] + "/" + library["file"]))
        if os.path.exists(path):
            waiting.append((library["file"], path))
        else:
            report.add(library["file"], FAILED, "%s has no %s" % (library["package"], path))
    # Libraries need each other: go round until nothing more loads.
    while waiting:
        tried = [(file, path, load(path)) for file, path in waiting]
        for file, path, why in tried:
            if why is None:
                report.add(file, OK, path)
        left = [(file, path) for file, path, why in tried if why is not None]
        if len(left) == len(waiting):
            for file, _, why in tried:
                report.add(file, FAILED, why)
            return
        waiting = left


def driver_version():
    """The driver as NVML tells it; None without a driver."""
    names = ["nvml.dll"] if os.name == "nt" else ["libnvidia-ml.so.1"]
    for name in names:
        try:
            nvml = ctypes.CDLL(name)
            if nvml.nvmlInit_v2() != 0:
                return None
            text = ctypes.create_string_buffer(96)
            failed = nvml.nvmlSystemGetDriverVersion(text, 96)
            nvml.nvmlShutdown()
            return None if failed else text.value.decode("ascii", "replace")
        except (OSError, AttributeError):
            continue
    return None


def gpus():
    """Name and compute capability of each GPU, as the driver tells them."""
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    found = []
    for place in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        cuda.cuDeviceGet(ctypes.byref(device), place)
        cuda.cuDeviceGetName(name, 128, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        found.append((name.value.decode("utf-8", "replace"), "%d.%d" % (major.value, minor.value)))
    return found


def check_machine(report):
    driver, found = driver_version(), gpus()
    minimum = LOCK["minimum_driver"]
    if driver is None:
        report.add("driver", SKIPPED, "there is no NVIDIA driver here")
    elif minimum and older(driver, minimum):
        report.add("driver", FAILED, "%s, this environment needs %s" % (driver, minimum))
    else:
        report.add("driver", OK, driver)
    covered = LOCK["capabilities"]
    for name, capability in found:
        missing = bool(covered) and capability not in covered
        detail = "%s (%s)" % (name, capability)
        report.verdict("GPU", missing, detail + " is not covered by the locked builds" if missing else detail)
    if not found:
        report.add("GPU", SKIPPED, "there is no GPU here")
    return found


def locked(*names):
    return next((package for package in LOCK["packages"] if package["name"] in names), None)


def check_torch(report, found):
    if not locked("torch"):
        return
    try:
        torch = importlib.import_module("torch")
    except Exception as error:  # whatever an import can end with is the finding
        report.add("import torch", FAILED, error)
        return
    report.add("import torch", OK, torch.__version__)
    if not found:
        report.add("torch on the GPU", SKIPPED, "there is no GPU here")
        return
    try:
        if not torch.cuda.is_available():
            report.add("torch on the GPU", FAILED, "torch.cuda.is_available() is False")
            return
        for place in range(torch.cuda.device_count()):
            total = torch.ones(8, device="cuda:%d" % place).sum().item()
            report.verdict("torch on the GPU", total != 8, "cuda:%d, CUDA %s" % (place, torch.version.cuda))
    except Exception as error:
        report.add("torch on the GPU", FAILED, error)


def field(number, content):
    """One field of a protobuf message: a number or bytes."""

    def varint(value):
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
        return bytes(out)

    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    if isinstance(content, str):
        content = content.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


def tiny_model():
    """An ONNX model that adds a number to itself: IR 7, opset 13, which every runtime of the last years reads."""

    def value(name):
        shape = field(2, field(1, field(1, 1)))
        return field(1, name) + field(2, field(1, field(1, 1) + shape))

    node = field(1, "x") + field(1, "x") + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(2, "g") + field(11, value("x")) + field(12, value("y"))
    return field(1, 7) + field(8, field(2, 13)) + field(7, graph)


def check_onnxruntime(report, found):
    runtime = locked("onnxruntime-gpu", "onnxruntime")
    if not runtime:
        return
    try:
        ort = importlib.import_module("onnxruntime")
        if runtime["name"] == "onnxruntime-gpu" and LOCK["wheels"] and hasattr(ort, "preload_dlls"):
            ort.preload_dlls()
    except Exception as error:
        report.add("import onnxruntime", FAILED, error)
        return
    report.add("import onnxruntime", OK, ort.__version__)
    if runtime["name"] != "onnxruntime-gpu":
        return
    if os.name != "nt":
        folder = os.path.join(os.path.dirname(ort.__file__), "capi")
        why = load(os.path.join(folder, "libonnxruntime_providers_shared.so"))
        why = why or load(os.path.join(folder, "libonnxruntime_providers_cuda.so"))
        # The provider may link the driver's own library, which is only there with a driver.
        no_driver = why is not None and "libcuda.so.1" in why and not found
        status = SKIPPED if no_driver else FAILED if why else OK
        report.add("libonnxruntime_providers_cuda.so", status, why or "loads")
    if not found:
        report.add("onnxruntime on the GPU", SKIPPED, "there is no GPU here")
        return
    try:
        wanted = ["CUDAExecutionProvider", "CPUExecutionProvider"]
        session = ort.InferenceSession(tiny_model(), providers=wanted)
        used = session.get_providers()[0]
        report.verdict("onnxruntime on the GPU", used != wanted[0], used)
    except Exception as error:
        report.add("onnxruntime on the GPU", FAILED, error)


def table(rows):
    width = max(len(row["check"]) for row in rows)
    lines = ["%-*s  %-7s  %s" % (width, row["check"], row["status"], row["detail"]) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def main(arguments):
    if arguments not in ([], ["--format", "text"], ["--format", "json"]):
        sys.exit("usage: verify.py [--format text|json]")
    report = Report()
    check_python(report)
    check_packages(report)
    check_libraries(report)
    found = check_machine(report)
    check_torch(report, found)
    check_onnxruntime(report, found)
    if arguments[1:] == ["json"]:
        print(json.dumps({"schema": 1, "ok": report.ok(), "checks": report.rows}, indent=2))
    else:
        print(table(report.rows))
    return 0 if report.ok() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
