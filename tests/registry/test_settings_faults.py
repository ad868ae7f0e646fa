"""registry.yaml with several faults: all of them come at once, with those of the other files."""

from __future__ import annotations

import pytest

from pawl.errors import Faulty
from pawl.registry.settings import read_settings
from support import Shop

REST = {"format": 1, "channels": {"production": {}}}
TOGETHER: dict[str, tuple[object, set[str]]] = {
    "an ignore without a reason beside unknown codes": (
        {**REST, "lint": {"ignores": [{"code": "schema-depth"}, {"code": "usage", "reason": "r"}, {"code": "no"}]}},
        {"settings-field-missing", "lint-ignore-refused", "lint-code-unknown"},
    ),
    "lint that is no mapping beside channels in a circle": (
        {"format": 1, "lint": [], "channels": {"a": {"after": "b"}, "b": {"after": "a"}}},
        {"settings-field-invalid", "channel-cycle"},
    ),
    "a channel that is none beside one after nobody": (
        {"format": 1, "channels": {"a": [], "B": {"after": "nobody"}}},
        {"settings-field-invalid", "channel-name", "channel-unknown"},
    ),
    "no format beside a path that leads out": (
        {"channels": {"a": {}}, "python_path": [1, "../x", ""]},
        {"settings-field-missing", "settings-field-invalid", "path-outside"},
    ),
    "an unknown field beside another's code": (
        {**REST, "chanels": {}, "lint": {"ignores": [None, {"code": ["x"]}, {"code": "no", "reason": "r"}]}},
        {"settings-field-unknown", "lint-code-unknown", "settings-field-invalid", "settings-field-missing"},
    ),
    "channels of strange shapes": ({"format": 1, "channels": {"a": {"after": ["a"]}}}, {"settings-field-invalid"}),
    "a list": ([1], {"settings-field-invalid"}),
}


@pytest.mark.parametrize(("document", "codes"), TOGETHER.values(), ids=TOGETHER)
def test_no_part_hides_another(document: object, codes: set[str]) -> None:
    with pytest.raises(Faulty) as found:
        read_settings(document)
    assert {fault.code for fault in found.value.faults} == codes


def test_check_tells_the_faults_of_the_other_files_too(plain_shop: Shop) -> None:
    plain_shop.edit("registry/registry.yaml", ("format: 1", "format: 2"))
    plain_shop.write("procedures/shop/bad.yaml", "kind: [\n")
    plain_shop.write("conformance/bad.yaml", "suite: [\n")
    paths = {problem["path"] for problem in plain_shop.pawl("check", code=1)["problems"]}
    assert paths == {"registry/registry.yaml", "procedures/shop/bad.yaml", "conformance/bad.yaml"}
    assert {problem["path"] for problem in plain_shop.pawl("publish", code=1)["problems"]} == {"registry/registry.yaml"}
