"""``python -m semikpca`` is the ``semikpca`` command, for environments whose scripts are not on the path."""

from semikpca.cli import main

if __name__ == "__main__":  # worker processes that are spawned import this file as well
    main()
