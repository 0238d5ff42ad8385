"""`python -m subsetprivacy` is the command `subsetprivacy`."""

from subsetprivacy.cli.main import main

if __name__ == "__main__":
    main(prog_name="subsetprivacy")
