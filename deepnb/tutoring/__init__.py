"""The rules of a Socratic seminar, checked on text with no agent and no model in this room.

    document.py   Markdown → thesis, clauses, definitions, evidence, refutation, reply, conclusion
    gaps.py       what is still missing, and the next question a tutor would ask
    hints.py      help with a gap in four steps, from a question to nearly told
    rules.py      what a tutor's reply or a document breaks
    told.py       whether a reply gives away what the person was to find
    beside.py     what is said of oneself, one's work or the tutor, and not to the matter
    intent.py     whether a request is ambiguous, clear, or plainly factual
    frames.py     an argument as a DataFrame

    choices.py    what to ask back about a request, with answers to choose from
    asked.py      what a reply asks
    citing.py     `[[File title]]` → files
    key_terms.py  the terms an argument leans on, and whether it says what they mean
    claims.py     whether a thesis claims something, and a refutation refutes
    english.py    whether a text can be English at all
    own_words.py  a text without code, quotations and citations

They are rules: they see words and signs, in English, and no meaning. How often each is right on
examples that were labelled by hand is measured by `benchmarks/tutoring.py`.
"""
