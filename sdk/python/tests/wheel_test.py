#!/usr/bin/env python3
"""The wheel builds, and has the package, its types and nothing else. Usage: wheel_test.py FOLDER

Builds in the virtual environment FOLDER, which it makes the first time; pip gets setuptools. Fails if that is not possible."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import here

FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()


class Wheel(unittest.TestCase):
    def test_it_builds_and_works_where_it_is_installed(self):
        python = FOLDER / "bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "python")  # setuptools writes into its source
            shutil.copytree(here.SDK, source, ignore=shutil.ignore_patterns("__pycache__"))
            subprocess.run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source], check=True)
            wheel, = pathlib.Path(folder).glob("easyretry-*-py3-none-any.whl")
            files = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("easyretry/")}
            package = here.SDK / "src/easyretry"
            self.assertEqual(files, {f"easyretry/{file.name}" for file in package.iterdir() if file.is_file()})
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel], check=True)
        code = "import easyretry.testing, importlib.metadata as m; assert m.version('easyretry') == easyretry.__version__; " \
               "assert not [one for one in m.requires('easyretry') or []]; print(easyretry.__file__)"
        ran = subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True)
        self.assertIn(str(FOLDER), ran.stdout)


if __name__ == "__main__":
    unittest.main()
