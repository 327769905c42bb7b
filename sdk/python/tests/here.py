"""Puts the package and the helpers of the e2e tests on the path."""
import pathlib
import sys

SDK = pathlib.Path(__file__).resolve().parent.parent
ROOT = SDK.parent.parent
sys.path[:0] = [str(SDK / "src"), str(ROOT / "tests/e2e")]
