"""Annotation back end without a server."""

from __future__ import annotations

from typing import Any, ClassVar

import fiftyone.utils.annotations as foua

STUB = {"config_cls": f"{__name__}.StubConfig"}
"""FiftyOne's configuration, which names the class by its module."""


class StubConfig(foua.AnnotationBackendConfig):  # type: ignore[misc]
    @property
    def type(self) -> str:
        return "stub"


class Stub(foua.AnnotationBackend):  # type: ignore[misc]
    """Back end without a server, which records its input."""

    given: ClassVar[dict[str, Any]] = {}
    supported_media_types: ClassVar[list[str]] = ["image"]
    supported_label_types: ClassVar[list[str]] = [
        "detections", "polygons", "keypoints", "segmentation", "classification"
    ]  # fmt: skip
    supported_scalar_types: ClassVar[list[type]] = []
    supported_attr_types: ClassVar[list[str]] = []
    supports_keyframes = False
    supports_video_sample_fields = False
    requires_label_schema = True

    def upload_annotations(self, samples: Any, anno_key: str, launch_editor: bool = False) -> Any:  # noqa: ARG002
        Stub.given = {"ids": samples.values("id"), "schema": self.config.label_schema}
        return foua.AnnotationResults(samples, self.config, anno_key, {}, backend=self)
