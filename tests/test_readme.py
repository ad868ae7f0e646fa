"""The README's guide runs block by block in a temporary folder; its two commands are those that CI calls."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import Ended, in_process

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d+)$")


def environment(home: Path) -> dict[str, str]:
    """Return an environment with a person of its own and ``pawl`` first on the path."""
    scripts = str(Path(sys.executable).parent)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    path = scripts + os.pathsep + kept["PATH"]
    return {**kept, **PERSON, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "PATH": path}


PERSON = {
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.invalid" for who in ("AUTHOR", "COMMITTER")},
}


@dataclass(frozen=True)
class Reader:
    """Somebody who types what a page shows, in a folder of their own."""

    home: Path
    processes: bool
    """Whether ``pawl`` is started; otherwise its command line runs in this process."""

    def reads(self, page: str) -> set[str]:
        """Do what the blocks say, one after the other, and return which kinds there were."""
        here, blocks = self.home, BLOCK.findall(page)
        for kind, text in blocks:
            if kind == "yaml":
                first, _, rest = text.partition("\n")
                path = here / first.removeprefix("# file: ")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(rest, encoding="utf-8")
            elif kind == "python":
                done = self._run([sys.executable, "-c", text], here)
                assert done.code == 0, done.err
            else:
                here = self._console(text, here)
        return {kind for kind, _ in blocks}

    def _console(self, text: str, here: Path) -> Path:
        """Run a console block; the lines under a command must stand in its output, in this order."""
        for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, *expected = block.rstrip("\n").split("\n")
            found = EXIT.search(line)
            command = shlex.split(EXIT.sub("", line))
            if command[0] == "cd":
                here = here / command[1]
                continue
            done = self._run(command, here)
            output = done.out + done.err
            assert done.code == (int(found.group(1)) if found else 0), f"$ {line}\n{output}"
            at = 0
            for wanted in expected:
                seen = output.find(wanted, at)
                assert seen >= 0, f"$ {line}\n{output}\nlacks: {wanted}"
                at = seen + len(wanted)
        return here

    def _run(self, command: list[str], here: Path) -> Ended:
        around = environment(self.home)
        if command[0] == "pawl" and not self.processes:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(here)
                for name, value in around.items():
                    patch.setenv(name, value)
                return in_process(*command[1:])
        done = subprocess.run(command, cwd=here, env=around, capture_output=True, text=True, timeout=300, check=False)
        return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_guide_runs_block_by_block(tmp_path: Path, processes: bool) -> None:
    guide = README.partition("## Ten minutes")[2].partition("## Where to read on")[0]
    assert Reader(tmp_path, processes).reads(guide) == {"console", "yaml", "python"}


def test_the_two_commands_of_the_readme_are_what_ci_calls() -> None:
    shell = [text.strip() for kind, text in BLOCK.findall(README) if kind == "sh"]
    assert len(shell) == 2
    demo, tests = shell
    assert demo.endswith("pawl demo")
    assert tests in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
