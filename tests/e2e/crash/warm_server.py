"""Start a game's server many times, each time as a fork of a process that has imported it.

This saves the imports of each start; twistd forks after loading the application, too. The argument
is the game directory, which must be the working directory. Each line on standard input starts one
server and prints its pid. The process ends when its standard input closes.
"""

import os
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

LOG_OBSERVER = "evennia.utils.logger.GetServerLogObserver"
# What a server imports by and by, in its start and after.
IMPORTED_LATER = (
    "evennia.server.amp_client",
    "evennia.server.webserver",
    "evennia_ai.assistant_script",
    "evennia_ai.commands.cmdset",
    "evennia_ai.services.assistant_service",
    "openai",
)


def main() -> None:
    """Load the application once and fork a server for each line."""
    sys.path.insert(0, sys.argv[1])
    runner = load()
    for name in IMPORTED_LATER:
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            run(runner)
        print(pid, flush=True)


def load() -> Any:
    """Return twistd's runner with the loaded application."""
    import evennia
    from twisted.scripts.twistd import ServerOptions, _SomeApplicationRunner

    module = Path(evennia.__file__).parent / "server" / "server.py"
    own = [f"--python={module}", f"--logger={LOG_OBSERVER}", "--pidfile=server/server.pid"]
    options = ServerOptions()
    options.parseOptions(["--nodaemon", *own])
    runner = _SomeApplicationRunner(options)
    runner.application = runner.createOrGetApplication()
    return runner


def run(runner: Any) -> NoReturn:
    """Run one server, in the forked process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        runner.oldstdout, runner.oldstderr = sys.stdout, sys.stderr
        runner.logger.start(runner.application)
        runner.postApplication()
    except BaseException:  # noqa: BLE001  # it must not go on as its parent
        traceback.print_exc()
    os._exit(0)


if __name__ == "__main__":
    main()
