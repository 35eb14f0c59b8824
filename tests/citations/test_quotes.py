"""A quote is found word for word and digit for digit, whatever the layout, or it is not found."""

from __future__ import annotations

import random
import re
import unicodedata

import pytest

from deepnb.citations.quotes import Texts, find, is_evidence, without_insertions
from deepnb.sentences import sentences
from tests.citations.samples import passages

PASSAGES = [text for text in passages() if len(text.split()) > 12]
VOCABULARY = sorted({w for text in PASSAGES for w in re.findall(r"[a-z]{4,}", text)})


def taken(rng, passage):
    """Some words of a passage in a row, and what is between them."""
    spans = [match.span() for match in re.finditer(r"\S+", passage)]
    first = rng.randrange(len(spans) - 6)
    last = min(first + rng.randrange(5, 20), len(spans) - 1)
    while last + 1 < len(spans) and passage[spans[last + 1][0]] in "%°":
        last += 1  # a number without its unit is another number
    return passage[spans[first][0] : spans[last][1]]


def with_another_digit(rng, quote):
    places = [place for place, sign in enumerate(quote) if sign in "0123456789"]
    if not places:
        return None
    place = rng.choice(places)
    digit = rng.choice([d for d in "0123456789" if d != quote[place]])
    return quote[:place] + digit + quote[place + 1 :]


def with_another_word(rng, quote):
    words = list(re.finditer(r"[^\W\d_]{2,}", quote))
    if not words:
        return None
    match = rng.choice(words)
    word = rng.choice([w for w in VOCABULARY if w != match[0].lower()])
    return quote[: match.start()] + word + quote[match.end() :]


def with_an_insertion(rng, quote):
    place = rng.choice([match.start() for match in re.finditer(r"\b\w", quote)])
    word = rng.choice(["un", "rarely ", "not ", "it", "failed in all patients", *VOCABULARY])
    return f"{quote[:place]}[{word}]{rng.choice(['', ' '])}{quote[place:]}"


@pytest.mark.parametrize(
    ("change", "seed"), [(with_another_digit, 1), (with_another_word, 2), (with_an_insertion, 5)]
)
def test_none_of_250_changed_quotes_is_found_and_the_unchanged_are(change, seed):
    rng, done = random.Random(seed), 0
    while done < 250:
        passage = rng.choice(PASSAGES)
        quote = taken(rng, passage)
        changed = change(rng, quote)
        if changed is None:
            continue
        assert find(quote, passage), quote
        assert find(changed, passage) is None, (quote, changed)
        done += 1


def test_none_of_250_quotes_that_are_joined_from_two_sentences_is_found():
    rng, done = random.Random(6), 0
    several = [text for text in PASSAGES if len(sentences(text)) > 1]
    while done < 250:
        passage = rng.choice(several)
        found = sentences(passage)
        first = rng.randrange(len(found) - 1)
        one, other = found[first].split(), rng.choice(found[first + 1 :]).split()
        if min(len(one), len(other)) < 6:
            continue
        gap = rng.choice([" … ", " [...] ", " (…) ", ". ... "])
        joined = " ".join(one[: rng.randrange(4, 6)]) + gap + " ".join(other[-4:])
        assert find(joined, passage) is None, joined
        done += 1


# What is part of a number, each before a comma: `\u00d7` is the sign of a product, `\u2013` a dash.
BEFORE = "-,\u2212,±,± ,$,€,€ ,.,< ,~,2:,1/,10 \u00d7 ,2\u2013,2 \u2013 ,**2**:,+,#,minus ,12 ,1.,"
BEFORE += "3 to ,2 or ,two hundred and ,six "
BEHIND = (
    " \u00d7 10⁵,\u00d710⁵, x 10^5,:1, : 1, ± 2, €,$, °C,°, %,%,\n%,** %,\u20135, \u2013 5,"
    " \u2013\n5,-5,/4, / 4,²,^2,e5,rd,.5, 000, million, Dozen, per cent,+,½,\u2032, \\times 10,"
    "-fold,k, k, to 5, to five, or 4, and a half, hundred, thirds"
)


def test_none_of_250_quotes_that_cut_a_number_in_two_is_found():
    rng = random.Random(7)
    befores, behinds = BEFORE.split(","), BEHIND.split(",")
    for number in range(250):
        words = rng.choice(PASSAGES).split()
        place = rng.randrange(4, len(words) - 4)
        few, more = " ".join(words[place - 4 : place]), " ".join(words[place : place + 4])
        digits = str(rng.randrange(100, 1000))
        before, behind = befores[number % len(befores)], behinds[number % len(behinds)]
        assert find(f"{few} so {digits}", f"{few} so {digits}{behind} of {more}") is None, behind
        assert find(f"{digits} of {more}", f"{few} {before}{digits} of {more}") is None, before
        assert find(f"{few} so {digits}", f"{few} so {digits} metres of {more}"), "a unit is a word"
        assert find(f"{few} so {digits}", f"- {few} so {digits}\n- 12 of {more}"), "another item"
        assert find(f"{digits} of {more}", f"- {few} 12\n- {digits} of {more}"), "another item"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("died of it five", "The number that died of it five hundred."),
        ("five of the boats sank", "Of the fleet, seventy five of the boats sank."),
        ("thousand people came to see it", "Some twenty thousand people came to see it."),
        ("was seen by two", "The film was seen by two million people."),
        ("the farms lost one", "Last year the farms lost one third of the crop."),
        ("it took them three", "In all, it took them three to five days."),
        ("five days in the sun", "It took three to five days in the sun."),
        ("hundred were sold", "In the end 3 hundred were sold."),
    ],
)
def test_no_word_is_cut_off_a_number_in_words(quote, text):
    assert find(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("fell from 84 in 2019", "It fell from 84 in 2019 to 52 in 2023."),
        ("seventy five of the boats sank", "Of the fleet, seventy five of the boats sank."),
        ("there were two of them", "There were two of them or three."),
        ("in all there were 3", "In all there were 3 tenants."),
        ("two ships sank", "In 2019 two ships sank."),
        ("Five went home early", "They saw twenty. Five went home early."),
    ],
)
def test_a_quote_may_end_behind_a_whole_number(quote, text):
    assert find(quote, text)


def wrapped(rng, text):
    return re.sub(r" ", lambda m: rng.choice([" ", " ", "\n", "\n   ", "  ", "\r\n", "\f"]), text)


def hyphenated(rng, text):
    hyphen = rng.choice(["-\n", "-\r\n  ", "\u00ad", "\u00ad\n", "\x02", "\u2010\n", "- "])

    def broken(match):
        cut = rng.randrange(2, len(match[0]) - 1)
        return match[0][:cut] + hyphen + match[0][cut:] if rng.random() < 0.4 else match[0]

    text = re.sub(r"(?<=\w)-(?=[a-z])", lambda m: rng.choice(["-", "-\n"]), text)
    return re.sub(r"(?<![\w-])[a-z]{6,}(?![\w-])", broken, text)


def with_other_quotation_marks(rng, text):
    pair = rng.choice(["\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb", "\u2018\u2019"])
    text = re.sub(r'"([^"]*)"', rf"{pair[0]}\1{pair[1]}", text)
    return re.sub(r"(?<=\w)'(?=\w)", "\u2019", text)


def with_ligatures(rng, text):
    for letters, sign in (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ")):
        text = text.replace(letters, sign)
    return text


def with_other_spaces(rng, text):
    return re.sub(r" ", lambda m: rng.choice([" ", "\u00a0", "\u202f", "\u2009", " \u00a0"]), text)


def with_other_dashes(rng, text):
    text = re.sub(r"(?<=\s)-(?=\s)", rng.choice(["\u2013", "\u2014", "--"]), text)
    return re.sub(r"(?<=\d)-(?=\d)", "\u2013", re.sub(r"(?<=\s)-(?=\d)", "\u2212", text))


def with_loose_accents(rng, text):
    return unicodedata.normalize("NFD", text)


LAYOUTS = [
    wrapped,
    hyphenated,
    with_other_quotation_marks,
    with_ligatures,
    with_other_spaces,
    with_other_dashes,
    with_loose_accents,
]


@pytest.mark.parametrize("seed", [3, 4])
def test_all_of_250_quotes_that_differ_in_layout_are_found(seed):
    rng = random.Random(seed)
    for number in range(250):
        passage = rng.choice(PASSAGES)
        quote = taken(rng, passage)
        layouts = [LAYOUTS[number % len(LAYOUTS)], *rng.sample(LAYOUTS, rng.randrange(3))]
        laid_out = quote
        for layout in layouts:
            laid_out = layout(rng, laid_out)
        # In the source, as a PDF has it, and in the report, as a model copies it.
        before, after = passage.split(quote, 1)
        assert find(quote, f"{before}{laid_out}{after}"), (quote, laid_out)
        assert find(laid_out, passage), (laid_out, passage)


TEXT = (
    "Lake Ansel covers 41 hectares. Its mean depth is 4.2 m. The phos-\nphorus-rich water was not "
    "well-\nknown. It fell by 38 % to -5 °C; 18 400 fish, 10² cycles, ½ cup, 5.2 g and p < 0.05 in "
    "all. The target was not reached. We can't swim in non-toxic waste of the party."
)


@pytest.mark.parametrize(
    "quote",
    [
        "lake Ansel covers 41 hectares",  # a quote may go on within a sentence
        "[L]ake Ansel covers 41 hectares",
        "“covers 41 hectares,”",
        "The phosphorus-rich water was not well-known.",
        "It fell by 38% to \u22125 °C",
        "18 400 fish, 10² cycles, ½ cup",
        "It fell by 38 % … and p < 0.05 in all",
        "It fell by 38 % [...] 10² cycles, ½ cup […] and p < 0.05 in all.",
        "… covers 41 hectares …",
        "**Lake Ansel** covers _41 hectares_",
    ],
)
def test_what_is_found(quote):
    assert find(quote, TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "covers 4 hectares",
        "mean depth is 4",
        "depth is 4.2 m. The phosphorusrich",
        "rich water was not",
        "It fell by 38",
        "5 °C; 18 400 fish",
        "400 fish, 10² cycles",
        "fish, 10",
        "18 400 fish, 102 cycles",
        "10 2 cycles, ½ cup",
        "10² cycles, 1/2 cup",
        "2 g and p",
        "0.05 in all",
        "5.2 g and p < 0.0",
        "we can",
        "toxic waste of the party",
        "waste of the part",
        "The target was … reached",  # what is left out says the contrary
        "The target was not … fell by 38",  # in another order
        "Lake … water … fish",  # single words prove nothing
        "Lake Ansel covers 41 hectares … its mean depth is 4.2 m",  # not in one sentence
        "Lake Ansel covers 41 hectares. [...] its mean depth is 4.2 m",
        "[Lake Ansel's] mean depth is 4.2 m",
        "The phosphorus-rich water was not [un]well-known",
        "It [rarely] fell by 38 %",
        "COVERS 41 HECTARES",
        "",
        "…",
        "[…] [it]",
    ],
)
def test_what_is_not_found(quote):
    assert find(quote, TEXT) is None


def test_it_says_where():
    start, end = find("the phosphorus-rich water", TEXT)
    assert TEXT[start:end] == "The phos-\nphorus-rich water"


def test_a_quote_may_go_on_in_a_passage_that_overlaps_and_in_no_other():
    one = "The pump stood still for 11 days in August, and oxygen below 6 m was gone within four."
    two = "August, and oxygen below 6 m was gone within four. Nobody had expected it so soon."
    quote = "for 11 days in August, and oxygen below 6 m was gone within four. Nobody had expected"
    span = Texts(["Something else.", two, one]).locate(quote)
    assert (span.passage, one[span.start : span.end]) == (2, one[21:])
    assert Texts([one, "Nobody had expected it so soon."]).locate(quote) is None


@pytest.mark.parametrize(
    "left_out",
    ["in mice but", "in mice. It is", "(in mice!) and", "in few, rarely", "\n\n", "\n- "],
)
def test_what_must_not_be_left_out(left_out):
    text = f"The drug was effective {left_out} harmless for all patients"
    assert find("The drug was effective … harmless for all patients", text) is None


def test_what_a_quote_has_besides_insertions():
    assert without_insertions("[T]he lake is [un]polluted … [sic]") == [
        "The lake is ",
        "polluted … ",
    ]
    assert without_insertions("the lake […] is green [...]") == ["the lake […] is green [...]"]
    assert find("the lake is [un]polluted", "The lake is [un]polluted."), "so has the source"


FOOTNOTES = (
    "Carp stir up sediment[^3] in spring.¹ Later, in 2019[^note], they¹\u207b³ rest² on 10 m² of "
    "mud, 10 feet² of sand, 3 mol per metre² and 10² stones.[^4]5"
)


@pytest.mark.parametrize(
    "quote",
    [
        "Carp stir up sediment in spring. Later, in 2019, they rest on 10 m² of mud",
        "carp stir up sediment[^3] in spring.¹ Later",
        "carp stir up sediment",
        "in spring. Later, in 2019",
    ],
)
def test_marks_of_footnotes_may_be_left_away(quote):
    start, end = find(quote, FOOTNOTES)
    assert FOOTNOTES[start:end].lower().startswith(quote[:10].lower())


@pytest.mark.parametrize(
    "quote",
    [
        "in spring.² Later, in 2019",
        "stir up sediment[^4] in spring",
        "they rest on 10 m of mud",
        "they rest on 10 m",
        "10 feet of sand",
        "3 mol per metre and",
        "and 10 stones",
        "they rest² on 10² m",
    ],
)
def test_a_power_is_no_footnote_and_no_footnote_another(quote):
    assert find(quote, FOOTNOTES) is None


def test_scripts_without_spaces_have_no_word_borders():
    text = "湖水在夏天\n变绿\uff0c因为磷的含量很高。"
    assert find("夏天变绿\uff0c因为磷", text)
    assert find("夏天变红\uff0c因为磷", text) is None


def test_one_or_two_words_are_no_evidence():
    assert not is_evidence("the lake")
    assert is_evidence("the green lake")
    assert is_evidence("湖水在夏天变绿")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("a" * 20_000 + "b", "a" * 60_000),
        ("a-" * 10_000 + "b", "a-" * 30_000),
        ("… a b c " * 300 + "… x y z", "a b c " * 5_000),
        ("a b c … x y z", "a b c. " * 9_000),
        ("a b c", "abcd¹" * 9_000 + "[^1]" * 9_000),
        (" \n" * 20_000 + "x", " \n" * 50_000),
        ("'" * 20_000, "«" * 30_000),
        ("[" * 10_000, "*_`" * 15_000),
        ("a b c", "\u0301" * 30_000),
    ],
)
def test_hostile_texts_are_searched_in_passing(quote, text):
    assert find(quote, text) is None


def test_what_has_too_many_holes_is_no_quote():
    words = [f"the word{n} came" for n in range(9)]
    text = f"Then {' and '.join(words)}."
    assert find(" … ".join(words[:8]), text)
    assert not find(" … ".join(words), text)
