"""Hostile input: everything that reads foreign bytes is given many, and answers with a value or an error of pawl's.

- ``python -m tests.hostile --inputs 1000000 --jobs 2`` feeds every target and prints a table; ``--again`` makes one
  input of a finding again.
- ``PYTHONPATH=tests python -m hostile.trials 10000`` changes files of a workspace, one at a time, and asks ``verify``.
- ``PAWL_YAML_TEST_SUITE=FOLDER pytest tests/hostile/test_yaml_suite.py`` reads the public YAML test suite.

The default run does a bounded part of the first two, ``-m slow`` more of them.
"""
