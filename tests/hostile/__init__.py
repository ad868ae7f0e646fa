"""Hostile input: everything that reads foreign bytes is given many, and answers with a value or an error of pawl's."""
