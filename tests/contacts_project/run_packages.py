"""A Python that has the packages of requirements/run.txt alone, for tests that start the service as users do."""

import re
import sysconfig
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests import ROOT

PINNED = re.compile(r"^([\w.-]+)==([^ ]+)( ;)?", re.MULTILINE)


def python_with_run_packages(folder: Path) -> Path:
    """Create an environment in which, of the packages installed for the tests, only those of run.txt can be imported.

    Returns its Python; the command `celery` is in the same folder.
    """
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", "posix_prefix", {"base": str(folder), "platbase": str(folder)}))
    for name, version, condition in PINNED.findall((ROOT / "requirements" / "run.txt").read_text()):
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            # Only a pin with an environment marker may be missing: it is for another system or Python.
            assert condition, f"{name} is not installed"
            continue
        assert installed.version == version
        for top in {file.parts[0] for file in installed.files or () if file.parts[0] != ".."}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(installed.locate_file(top)))
    python = folder / "bin" / "python"
    celery = python.with_name("celery")
    celery.write_text(f"#!{python}\nimport sys\nfrom celery.__main__ import main\nsys.exit(main())\n")
    celery.chmod(0o755)
    return python
