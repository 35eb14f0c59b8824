"""The research agent: a plan that a person approves, a report whose citations were checked.

graph.py        the nodes and the edges between them
state.py        what they share
thinker.py      question → plan
auditor.py      plan → verdict, by audit.py (rules) and the model
policy.py       POLICY.md: what is allowed
gate.py         the person's decision
executor.py     steps → sources, with tools.py
synthesizer.py  sources → report, and its check
failing.py      what becomes of a node that raises
offline/        plans and reports where there is no language model
asking.py       how a model is asked, with prompts.py, and plans.py for the form of a plan
views.py        what a session of it shows
"""
