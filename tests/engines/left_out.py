"""Engines that cannot be had: their tests are skipped, and a file in left-out says why, which ./test shows at its end."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from problem import Problem  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def exit_without(engine, folder, obtain):
    """Returns the result of `obtain`. If that raises Problem, ends the program."""
    why = folder / "left-out" / engine
    why.parent.mkdir(parents=True, exist_ok=True)
    why.unlink(missing_ok=True)
    try:
        return obtain()
    except Problem as problem:
        why.write_text(f"{engine}: {problem}\n")
        print(f"left out: {problem}")
        sys.exit(SKIPPED)
