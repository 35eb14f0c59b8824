"""The tutor: a Socratic dialogue, in which a person comes to an argument of their own.

graph.py      the agent's parts
prompts.py    what its model is told
checking.py   the tool that checks a document by the rules of `deepnb.tutoring`
views.py      what a session of it shows

Where no language model is configured, it asks by rule:

offline.py    the model in its place
standing.py   how far the dialogue has come
opening.py    what to do about the first request
dialogue.py   what to do about what is said then, with taking.py: an answer → a part
writing.py    writing to the person's files, with documents.py: what a document holds
reaching.py   the person's files
"""
