"""The README's guide runs block by block in a temporary folder; its two commands are those that CI calls."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d+)$")


def environment(home: Path) -> dict[str, str]:
    """Return an environment with a person of its own and ``pawl`` first on the path."""
    scripts = str(Path(sys.executable).parent)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _PERSON.items()}
    path = scripts + os.pathsep + kept["PATH"]
    return {**kept, **person, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "PATH": path}


_PERSON = {"NAME": "Ada", "EMAIL": "ada@example.invalid"}


def test_the_guide_runs_block_by_block(tmp_path: Path) -> None:
    here = tmp_path
    guide = README.partition("## Ten minutes")[2].partition("## Where to read on")[0]
    blocks = BLOCK.findall(guide)
    assert {kind for kind, _ in blocks} == {"console", "yaml", "python"}
    for kind, text in blocks:
        if kind == "yaml":
            first, _, rest = text.partition("\n")
            path = here / first.removeprefix("# file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest, encoding="utf-8")
        elif kind == "python":
            done = _run([sys.executable, "-c", text], here, tmp_path)
            assert done.returncode == 0, done.stderr
        else:
            here = _console(text, here, tmp_path)


def _console(text: str, here: Path, home: Path) -> Path:
    """Run a console block; the lines under a command must stand in its output, in this order."""
    for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, *expected = block.rstrip("\n").split("\n")
        found = EXIT.search(line)
        command = shlex.split(EXIT.sub("", line))
        if command[0] == "cd":
            here = here / command[1]
            continue
        done = _run(command, here, home)
        output = done.stdout + done.stderr
        assert done.returncode == (int(found.group(1)) if found else 0), f"$ {line}\n{output}"
        at = 0
        for wanted in expected:
            seen = output.find(wanted, at)
            assert seen >= 0, f"$ {line}\n{output}\nlacks: {wanted}"
            at = seen + len(wanted)
    return here


def _run(command: list[str], here: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=here, env=environment(home), capture_output=True, text=True, timeout=60, check=False
    )


def test_the_two_commands_of_the_readme_are_what_ci_calls() -> None:
    shell = [text.strip() for kind, text in BLOCK.findall(README) if kind == "sh"]
    assert len(shell) == 2
    demo, tests = shell
    assert demo.endswith("pawl demo")
    assert tests in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
