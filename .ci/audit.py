"""What is known to be wrong with the packages that are installed here, as pip-audit tells it.

Nothing known is 0, a finding is 1 unless accepted-findings.toml has it with a reason and an end that has not come. Data
that cannot be reached are no finding and no pass: what was not looked at is named, and the answer is 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

ACCEPTED = Path(__file__).parent / "accepted-findings.toml"
SECONDS = 30
"""For each of the two places that data are asked of."""


def accepted(text: str) -> dict[str, dict[str, Any]]:
    """Return id -> ``{id, package, reason, until}`` of accepted findings; ``ValueError`` if a part is left out."""
    rows: list[dict[str, Any]] = tomllib.loads(text).get("accepted", [])
    for row in rows:
        if (
            set(row) != {"id", "package", "reason", "until"}
            or type(row["until"]) is not date
            or not row["reason"].strip()
        ):
            raise ValueError(f"an accepted finding has id, package, reason and until (a date): {row}")
    return {row["id"]: row for row in rows}


def judge(rows: list[dict[str, Any]], allowed: dict[str, dict[str, Any]], today: date) -> tuple[list[str], bool]:
    """Return lines to show, and whether nothing stands against the packages.

    ``rows`` are pip-audit's dependencies: ``{name, version, vulns: [{id, aliases, fix_versions}]}`` or ``{name,
    skip_reason}``.
    """
    lines, good, used = [], True, set()
    skipped = [row["name"] for row in rows if "skip_reason" in row]
    for row in rows:
        for vuln in row.get("vulns", []):
            names = {vuln["id"], *vuln.get("aliases", [])}
            found = next((allowed[name] for name in sorted(names & set(allowed))), None)
            mended = ", ".join(vuln["fix_versions"]) or "nothing yet"
            what = f"{row['name']} {row['version']}: {vuln['id']}, mended in {mended}"
            if found is not None and found["package"] == row["name"]:
                used.add(found["id"])
                over = found["until"] <= today
                lines.append(
                    f"{what}; accepted until {found['until']}{', which has come' if over else ''}: {found['reason']}"
                )
                good = good and not over
            else:
                lines.append(what)
                good = False
    lines.extend(f"{name} is accepted and not found: take it off the list" for name in sorted(set(allowed) - used))
    lines.append(f"{len(rows) - len(skipped)} of {len(rows)} packages were looked up")
    if skipped:
        lines.append(f"no data could be had, so nothing is known, of: {', '.join(sorted(skipped))}")
    return lines, good


def ask(packages: Path, service: str) -> list[dict[str, Any]] | str:
    """Return what pip-audit says of a list of packages, or why it says nothing."""
    words = ["pip_audit", "-r", str(packages), "--no-deps", "--disable-pip", "-s", service, "-f", "json"]
    command = [sys.executable, "-m", *words, "--timeout", "10", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} seconds"
    except (ValueError, KeyError):
        return (done.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
    return found


def main() -> int:
    """Ask both places until one has data, show what is known, and return the exit code."""
    allowed = accepted(ACCEPTED.read_text(encoding="utf-8"))
    words = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    frozen = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "packages.txt"
        packages.write_text(frozen, encoding="utf-8")
        for service in ("pypi", "osv"):
            rows = ask(packages, service)
            if isinstance(rows, list) and any("vulns" in row for row in rows):
                lines, good = judge(rows, allowed, datetime.now(UTC).date())
                sys.stdout.write("\n".join(lines) + "\n")
                return 0 if good else 1
            why = rows if isinstance(rows, str) else "it has data of none of these packages"
            sys.stdout.write(f"{service}: {why}\n")
    sys.stdout.write("NOT AUDITED: no data about vulnerabilities can be reached from here\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
