"""`subsetprivacy completion`: the script for shell completion."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the script for shell completion.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that makes your shell complete commands, options and file names.

    \b
    Examples (run the lines for your shell once; new shells then complete):
      subsetprivacy completion bash > ~/.subsetprivacy.bash
      echo 'source ~/.subsetprivacy.bash' >> ~/.bashrc
    \b
      subsetprivacy completion zsh > ~/.subsetprivacy.zsh
      echo 'source ~/.subsetprivacy.zsh' >> ~/.zshrc
    \b
      subsetprivacy completion fish > ~/.config/fish/completions/subsetprivacy.fish
    """
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None  # click knows all three
    made = complete(ctx.find_root().command, {}, "subsetprivacy", "_SUBSETPRIVACY_COMPLETE")
    # Not made.source(): it looks for a bash on this machine, and the script may be for another.
    click.echo(made.source_template % made.source_vars())
