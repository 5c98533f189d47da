"""How each of the tools ends: with its status, and nothing that it started left behind."""

import sys

from benchkit import child, places, swarm


def run(main, say, when_interrupted="interrupted; the same command goes on from here"):
    """Ends the process with what main(arguments) returns; 2 and one line for what is missing, 130 after Ctrl-C."""
    with child.all_ended():
        try:
            sys.exit(main(sys.argv[1:]))
        except (places.Missing, swarm.SwarmFailed) as error:
            say(f"error: {error}")
            sys.exit(2)
        except KeyboardInterrupt:
            say(when_interrupted)
            sys.exit(130)
