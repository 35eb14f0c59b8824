"""Whether a report says what its sources say.

Everything that was read is a source with its text as it was seen. A report cites sources by id and
nothing else, and each of its claims is compared with the text that it cites: quotes word for word,
paraphrases by their words and numbers. There is no agent and no model in this room. What a model
wrote is the thing that is checked, so that nothing a model says can change a verdict.
"""
