"""The JSON Schemas that pawl prints: of every kind of file, so that editors complete and check them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pawl.conformance.models import json_schema as suite_schema
from pawl.operations.output_schemas import OUTPUT_SCHEMAS
from pawl.policy.models import json_schema as policy_schema
from pawl.procedures.kinds import KINDS
from pawl.procedures.models import MODELS, model_schema
from pawl.registry.settings_shape import json_schema as settings_schema


def _of_kind(kind: str) -> Callable[[], dict[str, Any]]:
    return lambda: model_schema(MODELS[kind])


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {
        **{kind: _of_kind(kind) for kind in KINDS},
        "suite": suite_schema,
        "policy": policy_schema,
        "registry": settings_schema,
        **OUTPUT_SCHEMAS,
    }
)
"""Kind of file (or ``output/COMMAND``) -> the function that makes its schema."""
