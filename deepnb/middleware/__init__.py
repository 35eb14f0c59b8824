"""What an agent can be given, one plug-in a file.

A plug-in is langchain middleware: it adds tools, wraps model calls or tool calls, and knows
nothing of the agent it is in. What langchain and deepagents already have (todo list, file tools,
subagents, approvals) is used from there; here is what nobody had.
"""
