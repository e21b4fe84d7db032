"""Makes DESTINATION hold one symbolic link for each entry of SOURCE and drops links whose target is gone."""

import os
import sys


def main(source: str, destination: str) -> None:
    os.makedirs(destination, exist_ok=True)
    names = {n for n in os.listdir(source) if n != "__pycache__" and not n.endswith(".so")} if os.path.isdir(source) else set()
    for name in os.listdir(destination):
        path = os.path.join(destination, name)
        if os.path.islink(path) and (name not in names or os.readlink(path) != os.path.join(source, name)):
            os.unlink(path)
    for name in names:
        path = os.path.join(destination, name)
        if not os.path.lexists(path):
            os.symlink(os.path.join(source, name), path)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
