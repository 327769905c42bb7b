"""A bare Debian 12 in a folder or a tar file, for tests of packages and images. Needs root and mmdebstrap."""
import pathlib

from made_packages import run


def make_root(target):
    """It reaches Debian's packages as this machine does."""
    options = pathlib.Path(f"{target}.apt")
    options.write_text(run("apt-config", "dump", "Acquire"))
    run("mmdebstrap", "--variant=apt", f"--aptopt={options}", "bookworm", target, timeout=900)
