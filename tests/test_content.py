"""Pictures go to models that can take them, and to no others."""

from __future__ import annotations

import deepnb
from deepnb.testing import ScriptedModel

PICTURE = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
REQUEST = {
    "messages": [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}]
}


def seen_types(model, number=0):
    human = next(m for m in model.calls[number].messages if m.type == "human")
    return [block["type"] for block in human.content_blocks]


async def test_a_model_that_cannot_take_a_picture_gets_a_note_instead():
    for use_async in (False, True):
        model = ScriptedModel(["A lake."])
        model.profile = {"image_inputs": False}
        agent = deepnb.create_deep_agent(model)
        await agent.ainvoke(REQUEST) if use_async else agent.invoke(REQUEST)
        assert seen_types(model) == ["text", "text"]


def test_a_model_that_can_take_it_gets_it():
    model = ScriptedModel(["A lake."])
    model.profile = {"image_inputs": True}
    deepnb.create_deep_agent(model).invoke(REQUEST)
    assert seen_types(model) == ["text", "image"]
