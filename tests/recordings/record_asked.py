#!/usr/bin/env python3
"""Records what a program asks of a simple index: the pages of the projects and the METADATA texts that it reads.

    python record_asked.py --seed DIR [--whole NAMES] INDEX_URL OUT.json.gz -- COMMAND ...

Stands between COMMAND and the index: in COMMAND, `{index}` is replaced by the address to ask. What is asked is passed on and
kept, in the form that record.py writes. Of each file its name, requires-python and yanked are kept, not size, sha256 or time.
Of projects that are not in `--whole NAME,NAME` only the files of the newest releases are kept, and those whose METADATA was
asked. Needs Python 3.11 and `packaging`.
"""
import argparse, concurrent.futures, gzip, http.server, json, os, re, subprocess, sys, threading

from packaging.version import InvalidVersion, Version

import record

NEWEST = 12


def version_of(filename):
    if filename.endswith(".whl"):
        text = filename.split("-")[1]
    else:
        text = re.sub(r"\.(tar\.gz|zip|tar\.bz2)$", "", filename).rpartition("-")[2]
    try:
        return Version(text)
    except InvalidVersion:
        return None


class Kept:
    def __init__(self, index, seed):
        self.index, self.seed = index.rstrip("/"), seed
        self.pages, self.texts, self.lock = {}, {}, threading.Lock()

    def stored(self, path, make):
        """What was fetched earlier: pages and texts do not change within a day."""
        path = os.path.join(self.seed, path)
        if os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
        body = make()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(body)
        return body

    def page(self, name):
        def make():
            status, _, body = record.fetch(f"{self.index}/{name}/", {"Accept": record.JSON_TYPE})
            return body if status == 200 else b"null"

        page = json.loads(self.stored(f"simple/{name}.json", make))
        with self.lock:
            self.pages[name] = page["files"] if page else None
        return page

    def text(self, name, filename):
        row = next((f for f in self.pages.get(name) or [] if f["filename"] == filename), None)
        if row is None or not filename.endswith(".whl"):
            return None
        try:
            text = record.headers_only(self.stored(f"meta/{filename}.metadata", lambda: record.metadata_of_wheel(row)))
        except Exception as error:
            print(f"no METADATA: {filename}: {error!r}", file=sys.stderr)
            return None
        with self.lock:
            self.texts[filename] = text
        return text

    def rows(self, name, whole):
        files = self.pages[name]
        if not whole:
            versions = {version_of(f["filename"]) for f in files} - {None}
            newest = set(sorted(v for v in versions if not v.is_prerelease)[-NEWEST:])
            files = [f for f in files if f["filename"] in self.texts or version_of(f["filename"]) in newest]
        for file in sorted(files, key=lambda f: f["filename"]):
            row = {"filename": file["filename"], "requires-python": file.get("requires-python"),
                   "yanked": file.get("yanked") or None, "metadata": self.texts.get(file["filename"])}
            yield {key: value for key, value in row.items() if value is not None}

    def save(self, path, whole):
        order, texts, projects = {}, [], {}
        for name in sorted(n for n, files in self.pages.items() if files is not None):
            rows = list(self.rows(name, name in whole))
            for row in rows:
                if (text := row.get("metadata")) is not None:
                    if text not in order:
                        order[text] = len(texts)
                        texts.append(text)
                    row["metadata"] = order[text]
            projects[name] = rows
        raw = json.dumps({"projects": projects, "metadata": texts}, indent=0, sort_keys=True).encode()
        with open(path, "wb") as file:
            file.write(gzip.compress(raw, 9, mtime=0))
        files = sum(map(len, projects.values()))
        print(f"{len(projects)} projects, {files} files, {len(texts)} texts, {os.path.getsize(path)} bytes", file=sys.stderr)


def handler(kept):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, status, body, kind):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            parts = [part for part in self.path.split("/") if part]
            if len(parts) == 2 and parts[0] == "simple":
                page = kept.page(parts[1])
                if page is None:
                    return self.answer(404, b"", "text/plain")
                files = []
                for file in page["files"]:
                    row = {"filename": file["filename"], "hashes": {}, "requires-python": file.get("requires-python"),
                           "yanked": file.get("yanked", False),
                           "url": f"../../files/{parts[1]}/" + file["filename"].replace("+", "%2B")}
                    if file["filename"].endswith(".whl"):
                        row["core-metadata"] = True
                    files.append(row)
                body = {"meta": {"api-version": "1.1"}, "name": parts[1], "files": files}
                return self.answer(200, json.dumps(body).encode(), record.JSON_TYPE)
            if len(parts) == 3 and parts[0] == "files" and parts[2].endswith(".metadata"):
                text = kept.text(parts[1], parts[2].removesuffix(".metadata").replace("%2B", "+"))
                if text is not None:
                    return self.answer(200, text.encode(), "text/plain")
            return self.answer(404, b"", "text/plain")

    return Handler


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("index")
    arguments.add_argument("out")
    arguments.add_argument("--seed", required=True, help="a folder for what is fetched")
    arguments.add_argument("--whole", default="", help="projects of which every file is kept")
    arguments.add_argument("command", nargs=argparse.REMAINDER)
    given = arguments.parse_args()
    kept = Kept(given.index, given.seed)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(kept))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/simple/"
    command = [word.replace("{index}", address) for word in given.command if word != "--"]
    subprocess.run(command, check=True)
    kept.save(given.out, set(given.whole.split(",")))


if __name__ == "__main__":
    main()
