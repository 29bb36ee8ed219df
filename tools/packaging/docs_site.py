"""Makes the documentation site: the pages of docs/, and a reference from headers, stubs and help texts.

Usage: python3 -m tools.packaging.docs_site --program RONDO [--out FOLDER]      FOLDER: build/site

The navigation is the README's: its tables list the pages by reader.  The site needs no network, and no server but for the
search.  Fails where a link leads nowhere, a page loads something from elsewhere, or a public name is not in the reference.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from tools.dependencies import cache, fetch
from tools.packaging import docs_reference

PACKAGES = ["mkdocs-material", "mkdocs", "mkdocs-material-extensions", "markdown", "pymdown-extensions", "click", "ghp-import",
            "mergedeep", "pathspec", "platformdirs", "pyyaml", "pyyaml-env-tag", "python-dateutil", "watchdog",
            "mkdocs-get-deps", "backrefs", "paginate", "colorama", "jinja2-wheel", "markupsafe-wheel", "pygments", "packaging"]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?(https?:)?//""")
CANONICAL = re.compile(r'<link[^>]*rel="?canonical[^>]*>')
README = "index.md"


def targets(text):
    return [match.group(1) for match in LINK.finditer(text) if "://" not in match.group(1)]


class Pages:
    """The sources of the site, in one folder."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def place_of(self, target):
        """Where the site has what a page links to, as a path of the repository; None: nowhere."""
        if target == pathlib.PurePath("README.md"):
            return README
        if target == pathlib.PurePath("CHANGELOG.md") or target.parts[0] == "docs":
            return "/".join(target.parts[-1:])
        if not (cache.REPO / target).is_file():
            return None
        name = f"source/{target}"
        if not (self.folder / name).exists():
            self.write(name, (cache.REPO / target).read_text(encoding="utf-8"))
        return name

    def add(self, path, name):
        """A page of the repository, with links to what the site has."""
        base = path.parent.relative_to(cache.REPO)

        def moved(match):
            target, anchor = match.group(1), match.group(2) or ""
            if "://" in target:
                return match.group(0)
            place = self.place_of(pathlib.PurePath(os.path.normpath(base / target)))
            return f"]({place}{anchor})" if place else "]" + "()"

        text = LINK.sub(moved, path.read_text(encoding="utf-8"))
        # What the site does not have, folders, is named without a link.
        self.write(name, re.sub(r"\[([^\]\[]*)\]\(\)", r"\1", text))


def navigation(readme, names):
    """The README's tables: [{"For people who ...": [{"gateway": "gateway.md"}, ...]}, ...]; pages in none of them come last."""
    out, seen, section = [{"rondo": README}, {"Tutorial": "tutorial.md"}], {"tutorial.md"}, None
    for line in readme.splitlines():
        if line.startswith("## "):
            section = {line[3:]: []}
            out.append(section)
        elif line.startswith("| ["):
            for title, target in re.findall(r"\[([^\]]+)\]\(docs/([\w-]+\.md)\)", line.split(" | ")[0]):
                if target not in seen:
                    seen.add(target)
                    next(iter(section.values())).append({title: target})
    out = [entry for entry in out if next(iter(entry.values()))]
    rest = [{name[:-3]: name} for name in names if name not in seen]
    return [*out, {"More": [*rest, {"Changelog": "CHANGELOG.md"}]}]


def configuration(pages, site, nav):
    return {
        "site_name": "rondo", "docs_dir": str(pages.folder), "site_dir": str(site), "use_directory_urls": False, "nav": nav,
        "theme": {"name": "material", "font": False, "features": ["navigation.indexes", "content.code.copy", "toc.follow"],
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default"},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate"}]},
        "plugins": [{"search": {}}],
        "markdown_extensions": ["tables", {"toc": {"permalink": True}}, "fenced_code", {"pymdownx.highlight": {}},
                                "pymdownx.superfences"],
        "validation": {"links": {"not_found": "warn", "anchors": "warn"}, "nav": {"omitted_files": "ignore"}},
    }


def faults_of(site):
    """What the made pages load from elsewhere."""
    out = []
    for page in sorted(site.rglob("*.html")):
        text = CANONICAL.sub("", page.read_text(encoding="utf-8"))
        out += [f"{page.relative_to(site)} loads {match.group(0)}" for match in LOADED.finditer(text)]
    return out


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=cache.REPO / "build" / "site")
    options = parser.parse_args()
    folders = [fetch.wheel(name) for name in PACKAGES]
    if None in folders:
        cache.fail("the packages that make the site are not to be had here")
    site = options.out.resolve()
    pages = Pages(site.parent / f"{site.name}-pages")
    names = []
    for path in sorted((cache.REPO / "docs").glob("*.md")):
        pages.add(path, path.name)
        names.append(path.name)
    pages.add(cache.REPO / "README.md", README)
    pages.add(cache.REPO / "CHANGELOG.md", "CHANGELOG.md")
    nav = navigation((cache.REPO / "README.md").read_text(encoding="utf-8"), names)
    reference = docs_reference.pages(options.program.resolve())
    if missing := docs_reference.missing(reference):
        cache.fail(f"the reference lacks {', '.join(missing)}")
    for name, (_, text) in reference.items():
        pages.write(f"reference/{name}.md", text)
    nav.insert(-1, {"Reference": [{title: f"reference/{name}.md"} for name, (title, _) in reference.items()]})
    settings = pages.folder.with_suffix(".yml")
    settings.write_text(json.dumps(configuration(pages, site, nav), indent=1), encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=":".join(map(str, folders)), NO_MKDOCS_2_WARNING="1")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", str(settings)],
                          env=environment, check=False)
    if done.returncode != 0:
        cache.fail("the site has faults; see above")
    if faults := faults_of(site):
        cache.fail("\n".join(["the site is to work without a network:", *faults]))
    cache.say(f"{site}/index.html: {len(list(site.rglob('*.html')))} pages")


if __name__ == "__main__":
    main()
