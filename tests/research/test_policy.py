"""What a policy allows, how it is written and found, and that nothing talks it round."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import ValidationError

import deepnb
from deepnb.agents.research.audit import ModelVerdict, audit_rules, combine
from deepnb.agents.research.hosts import host_of, normal_host
from deepnb.agents.research.policy import Policy, find
from deepnb.agents.research.rules import FORMS
from deepnb.errors import DeepnbError, PolicyError

ROOT = Path(deepnb.__file__).parent
DOCS = ROOT.parent / "docs" / "policy.md"
TEXT = """\
# Interviews

Prose is for people.

## Data access
- allow the knowledge base
- allow files `papers/**`, notes.md
- deny files private/**, `*.key`

## External requests
- allow hosts *.arxiv.org, doi.org and 192.0.2.7
- deny hosts export.arxiv.org
- at most 2 external requests

## Allowed tools
- allow search_knowledge, read_file, web_search, fetch_page, arxiv_*
- deny arxiv_upload

## Content
- deny the words "patient name", password

## For the auditor
Be strict.

- Even about this.
"""


class Facts(NamedTuple):
    name: str
    leaves: bool = False


TOOLS = {
    name: Facts(name, leaves=leaves)
    for name, leaves in {
        "search_knowledge": False,
        "read_file": False,
        "web_search": True,
        "fetch_page": True,
        "arxiv_find": True,
        "arxiv_upload": True,
        "sums": False,
    }.items()
}


@pytest.fixture(scope="module")
def policy():
    return Policy.parse(TEXT, "POLICY.md")


def step(tool, given, number=1, *after, **more):
    made = {"id": str(number), "title": "A step", "tool": tool, "input": given}
    return {**made, "rationale": "", "depends_on": [*after], **more}


def plan(*steps, question="Why?"):
    return {"question": question, "steps": [*steps]}


def with_rule(section, rule):
    return TEXT.replace(f"## {section}\n", f"## {section}\n{rule}\n")


def statuses(findings):
    return [check["status"] for check in findings.checks]


# How it is written


def test_the_rules_and_the_prose_are_read(policy):
    assert len(policy.rules) == 9
    assert policy.most_requests == 2
    assert policy.text == "Be strict.\n\n- Even about this."
    assert Policy.parse(TEXT.replace("\n", "\r\n"), "x").rules == policy.rules


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.about)
def test_every_example_in_an_error_is_understood(form):
    assert Policy.parse(with_rule(form.section, f"- {form.example}"), "x").rules


@pytest.mark.parametrize(
    ("section", "rule"),
    [
        ("Data access", "- deny read_file in private"),
        ("Data access", "- deny files"),
        ("Data access", "- deny files a,b.md"),
        ("Data access", "- deny files my notes.md"),
        ("Data access", "- deny files a/**,\n"),
        ("Data access", "- deny files /home/me/**"),
        ("Data access", "- deny files ../x"),
        ("Data access", "- deny files private\\**"),
        ("Data access", "- deny files priv\u200bate/**"),
        ("Data access", "- allow web_search"),
        ("Data access", "- allow the knowledge base\n\n  but not on Sundays"),
        ("Data access", "- allow the knowledge base\n  - deny files x"),
        ("Data access", "-\n\nlow the knowledge base"),
        ("Data access", "* be careful"),
        ("Data access", "1. be careful"),
        ("Data access", "> - deny files x"),
        ("Data access", "\n    - deny files x"),
        ("Data access", "```\n- deny files x\n```"),
        ("Data access", "<div>\n- deny files x\n</div>\n"),
        ("Data access", "<!--\n- deny files x\n"),
        ("Data access", "Now <!-- \n- allow the knowledge base\n-->"),
        ("Data access", "Deny files x"),
        ("Data access", "Files matter.\n**Deny** files x"),
        ("External requests", "- allow hosts https://doi.org/"),
        ("External requests", "- allow hosts doi.org:443"),
        ("External requests", "- allow hosts *arxiv.org"),
        ("External requests", "- allow hosts a.*.org"),
        ("External requests", "- allow hosts 0x7f.1"),
        ("External requests", "- at most ten external requests"),
        ("External requests", "- at most -1 external requests"),
        ("Allowed tools", "- allow all tools except web_search"),
        ("Allowed tools", "- ~~allow web_search~~"),
        ("Allowed tools", "- allow web_search <!-- for now -->"),
        ("Content", "- allow everything"),
        ("Content", '- deny the words "!!"'),
        ("Content", "## Contents\n"),
        ("Content", "# Content\n"),
        ("Content", "## Allowed tools\n- deny web_search"),
    ],
)
def test_what_is_not_understood_makes_it_invalid_and_names_the_line(section, rule):
    text = with_rule(section, rule)
    first = text[: text.index(rule)].count("\n") + 1
    with pytest.raises(PolicyError, match=r"^here/POLICY\.md, line (\d+): .*\.$") as caught:
        Policy.parse(text, "here/POLICY.md")
    line = int(re.search(r"line (\d+)", str(caught.value))[1])
    assert first <= line <= first + rule.count("\n") + 1
    assert isinstance(caught.value, DeepnbError)


def test_no_slip_of_the_pen_loses_a_rule_in_silence():
    for place in range(TEXT.index("## Data"), TEXT.index("## For")):
        for slip in ("", "\n", "`"):
            try:
                slipped = Policy.parse(TEXT[:place] + slip + TEXT[place + 1 :], "x")
            except PolicyError:
                continue
            assert len(slipped.rules) == 9


def test_an_error_says_what_is_understood():
    with pytest.raises(PolicyError, match='\'- deny the words "patient name", "home address"\''):
        Policy.parse(with_rule("Content", "- be nice"), "x")


@pytest.mark.parametrize(
    "section", ["Data access", "External requests", "Allowed tools", "Content"]
)
def test_a_missing_section_makes_it_invalid(section):
    rest = re.sub(rf"## {section}\n.*?(?=## )", "", TEXT, flags=re.DOTALL)
    with pytest.raises(PolicyError, match=f"no section '## {section}'"):
        Policy.parse(rest, "x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- allow web_search\n" + TEXT,
        TEXT + "\n## Content\n",
        TEXT + "\n# More\n",
        TEXT + "x" * 70_000,
        TEXT.replace("Prose", "Allow me: prose"),
    ],
)
def test_no_other_text_is_a_policy(text):
    with pytest.raises(PolicyError):
        Policy.parse(text, "x")


def test_prose_comments_and_small_headings_are_for_people():
    more = "### Why\n\nWe allow little.\n\n<!-- - deny the knowledge base -->\n\n---\n"
    assert len(Policy.parse(with_rule("Data access", more), "x").rules) == 9


def test_an_empty_section_allows_nothing():
    empty = Policy.parse(
        "## Data access\n## External requests\n## Allowed tools\n## Content\n", "x"
    )
    for tool in TOOLS.values():
        assert empty.permits(tool, "notes.md")
    assert empty.permits_host("doi.org")
    assert empty.permits_file("notes.md")


# What it permits


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search_knowledge", "shuttle effect"),
        ("read_file", "papers/a/b.pdf"),
        ("read_file", "./papers//report..final.md"),
        ("read_file", "papers/100%.md"),
        ("read_file", "/notes.md"),
        ("web_search", "what does https://evil.example say"),
        ("fetch_page", "https://arxiv.org/abs/1"),
        ("fetch_page", "HTTPS://Export2.ArXiv.ORG.:443/abs/1?q=a@b"),
        ("fetch_page", "http://192.0.2.7/"),
        ("fetch_page", "http://[::ffff:192.0.2.7]/"),
        ("fetch_page", "http://\uff44oi\u3002org/10"),
        ("arxiv_find", '{"like": "https://arxiv.org/abs/1"}'),
        ("arxiv_find", "see (https://doi.org/1)."),
        ("web_search", "passwordless names of patients"),
    ],
)
def test_what_is_allowed_is_permitted(policy, tool, given):
    assert policy.permits(TOOLS[tool], given) is None
    assert audit_rules(plan(step(tool, given)), policy, TOOLS)["passed"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("sums", "1 + 1"),
        ("arxiv_upload", "x"),
        ("read_file", "other.md"),
        ("read_file", "private/a.md"),
        ("read_file", "papers/private/a.md"),
        ("read_file", "papers/PRIVATE/a.md"),
        ("read_file", "papers/private./a.md"),
        ("read_file", "papers/\uff50rivate/a.md"),
        ("read_file", "papers/my.KEY"),
        ("read_file", "papers/../private/a.md"),
        ("read_file", "papers/%2e%2e/private/a.md"),
        ("read_file", "papers/private%2Fa.md"),
        ("read_file", "papers/private%25252Fa.md"),
        ("read_file", "papers/" + "%" + "25" * 9 + "2Fa.md"),
        ("read_file", "papers\\private\\a.md"),
        ("read_file", "papers/.deepnb/log"),
        ("read_file", "~/papers/a.md"),
        ("read_file", "/"),
        ("fetch_page", "https://evil.example/"),
        ("fetch_page", "https://export.arxiv.org/"),
        ("fetch_page", "https://a.export.arxiv.org/"),
        ("fetch_page", "https://EXPORT.arxiv.org./"),
        ("fetch_page", "https://notarxiv.org/"),
        ("fetch_page", "https://arxiv.org.evil.example/"),
        ("fetch_page", "https://doi.org@evil.example/"),
        ("fetch_page", "https://evil.example\\@doi.org/"),
        ("fetch_page", "https://evil.example#@doi.org/"),
        ("fetch_page", "https://doi.org:x/"),
        ("fetch_page", "https://doi.org:99999/"),
        ("fetch_page", "https://d%6fi.org/"),
        ("fetch_page", "https://dоi.org/"),  # noqa: RUF001  # a Cyrillic letter
        ("fetch_page", "https://doi.org /"),
        ("fetch_page", "https://doi.org\n/"),
        ("fetch_page", "ftp://doi.org/"),
        ("fetch_page", "file:///etc/passwd"),
        ("fetch_page", "doi.org/10"),
        ("fetch_page", "http://3221226007/"),
        ("fetch_page", "http://0300.0.2.7/"),
        ("fetch_page", "http://192.0.2.0x7/"),
        ("fetch_page", "http:///doi.org"),
        ("fetch_page", "https://doi.org/?q=patient%20name"),
        ("fetch_page", "https://doi.org/?q=patient+name"),
        ("arxiv_find", '{"url": "https:\\/\\/evil.example"}'),
        ("arxiv_find", '["a", {"u": "https:\\u002f\\u002fevil.example/x"}]'),
        ("arxiv_find", "https%3A%2F%2Fevil.example"),
        ("arxiv_find", '{"note": "patient\\nname"}'),
        ("web_search", "the Patient  NAME"),
        ("web_search", "patient_name"),
        ("web_search", "pa\u200btient na\u00adme"),
        ("web_search", "pаtient nаme"),  # noqa: RUF001  # Cyrillic letters
        ("web_search", "pässword"),
        ("web_search", "%" + "25" * 9 + "70assword"),
        ("web_search", ""),
        ("search_knowledge", " \n"),
        ("search_knowledge", "x" * 2001),
    ],
)
def test_what_is_not_allowed_is_refused_in_the_plan_and_before_the_call(policy, tool, given):
    assert policy.permits(TOOLS[tool], given)
    audit = audit_rules(plan(step(tool, given)), policy, TOOLS)
    assert not audit["passed"]
    assert any(remark.startswith("Step 1: ") for remark in audit["remarks"])


def test_requests_are_counted(policy):
    assert policy.permits(TOOLS["web_search"], "x", 1) is None
    assert "at most 2" in policy.permits(TOOLS["web_search"], "x", 2)
    assert policy.permits(TOOLS["search_knowledge"], "x", 99) is None
    assert policy.permits_host("doi.org", 1) is None
    assert "at most 2" in policy.permits_host("doi.org", 2)
    three = plan(*(step("web_search", "x", number) for number in (1, 2, 3)))
    assert policy.check(three, TOOLS).reasons == [
        "Step 3: The policy allows at most 2 external requests."
    ]
    lowest = Policy.parse(with_rule("External requests", "- at most 1 external request"), "x")
    assert lowest.most_requests == 1


def test_a_web_tool_that_claims_to_stay_is_not_believed(policy):
    assert policy.permits(Facts("web_search"), "x", 2)
    assert policy.permits(Facts("fetch_page"), "https://evil.example")


def test_a_page_of_an_earlier_step_is_checked_when_its_host_is_known(policy):
    assert policy.permits(TOOLS["fetch_page"], "1", earlier=["1"]) is None
    assert policy.permits(TOOLS["fetch_page"], "1")
    two = step("web_search", "x", 1), step("fetch_page", "1", 2, "1")
    assert policy.check(plan(*two), TOOLS).reasons == []
    unrelated = step("web_search", "x", 1), step("fetch_page", "1", 2)
    assert policy.check(plan(*unrelated), TOOLS).reasons


def test_what_the_knowledge_base_holds_of_a_denied_file_can_be_told(policy):
    assert policy.denies_file("/home/me/private/a.md")
    assert policy.denies_file("/home/me/other/a.md") is None


def test_words_are_found_in_scripts_without_spaces():
    strict = Policy.parse(with_rule("Content", "- deny the words 患者"), "x")
    assert strict.denies_words("全部患者名单")
    assert strict.denies_words("名单") is None


def test_a_denial_outweighs_what_allows_wherever_it_stands():
    before = Policy.parse(with_rule("Allowed tools", "- deny fetch_page"), "x")
    after = Policy.parse(
        TEXT.replace("- deny arxiv_upload", "- deny arxiv_upload, fetch_page"), "x"
    )
    kept = Policy.parse(with_rule("Data access", "- deny the knowledge base"), "x")
    everything = Policy.parse(with_rule("External requests", "- allow hosts *"), "x")
    assert before.permits(TOOLS["fetch_page"], "https://doi.org")
    assert after.permits(TOOLS["fetch_page"], "https://doi.org")
    assert kept.permits(TOOLS["search_knowledge"], "x")
    assert everything.permits_host("evil.example") is None
    assert everything.permits_host("export.arxiv.org")


def test_hosts_have_one_spelling_and_it_is_stable():
    spellings = [
        "bücher.example",
        "BÜCHER.example.",
        "xn--bcher-kva.example",
        "bu\u0308cher.example",
    ]
    assert {normal_host(each) for each in spellings} == {"xn--bcher-kva.example"}
    assert normal_host("[::1]") == normal_host("0:0:0:0:0:0:0:1") == "::1"
    assert host_of("https://[2001:DB8::1]:8080/x") == "2001:db8::1"
    for each in [*spellings, "192.0.2.7", "::1", "a.b"]:
        assert normal_host(normal_host(each)) == normal_host(each)
    for odd in [
        "",
        ".",
        "a..b",
        "a b",
        "a/b",
        "a@b",
        "fe80::1%eth0",
        "x" * 300,
        "-",
        "1",
        "\ud800",
    ]:
        with pytest.raises(ValueError, match="not the name|odd spelling"):
            normal_host(odd)


# What it says about a plan


def test_the_four_areas_are_checked_and_put_in_words(policy):
    steps = (
        step("search_knowledge", "a", 1),
        step("read_file", "notes.md", 2),
        step("search_knowledge", "b", 3),
        step("web_search", "c", 4, "1"),
    )
    checks, reasons = policy.check(plan(*steps), TOOLS)
    assert [tuple(check.values()) for check in checks] == [
        ("Data access", "ok", "Workspace and knowledge base"),
        ("External requests", "warn", "Step 4 sends the question's words to a search engine"),
        ("Tools", "ok", "4 steps, 3 tools, all allowed"),
        ("Content", "ok", "Nothing flagged"),
    ]
    assert reasons == []
    audit = audit_rules(plan(*steps), policy, TOOLS)
    assert audit["summary"] == "The plan keeps to the policy's 9 rules."
    assert (audit["passed"], audit["policy"], audit["remarks"]) == (True, "POLICY.md", [])


def test_every_violating_step_is_named_once_for_each_reason(policy):
    steps = (
        step("read_file", "private/a", 1),
        step("read_file", "private/b", 2, rationale="to get the password"),
        step("shell", "rm", 3),
    )
    checks, reasons = policy.check(plan(*steps, question="Whose patient name?"), TOOLS)
    assert [check["status"] for check in checks] == ["bad", "warn", "bad", "bad"]
    assert checks[0]["note"] == (
        "Step 1: The policy denies the file private/a (private/**). And 1 more."
    )
    assert reasons == [
        "The question: The policy denies the words “patient name”.",
        "Step 1: The policy denies the file private/a (private/**).",
        "Step 2: The policy denies the file private/b (private/**).",
        "Step 2: The policy denies the words “password”.",
        "Step 3: There is no tool shell.",
    ]


@pytest.mark.parametrize(
    ("malformed", "why"),
    [
        (plan(), "at least 1 item"),
        (plan(step("search_knowledge", "x"), step("search_knowledge", "y")), "same id"),
        (plan(step("search_knowledge", "x", 1, "7")), "depends on '7', which is none"),
        (plan(step("search_knowledge", "x", 1, "2"), step("sums", "x", 2, "1")), "wait for each"),
        (plan(step("search_knowledge", "x", 1, "1")), "wait for each other"),
        (plan(step("search_knowledge", None)), "valid string"),
        (plan(step("search_knowledge", "x", approved=True)), "not permitted"),
        (plan("search"), "EditedStep"),
        ({}, "valid list"),
        (None, "not a plan"),
        ([], "not a plan"),
    ],
)
def test_what_is_not_a_plan_passes_no_check(policy, malformed, why):
    findings = policy.check(malformed, TOOLS)
    assert statuses(findings) == ["bad"] * 4
    assert why in findings.reasons[0]
    assert not audit_rules(malformed, policy, TOOLS)["passed"]


# The auditor

CLEAN = plan(step("search_knowledge", "x"))
DIRTY = plan(step("read_file", "private/a"))


def verdict(word, *reasons):
    return ModelVerdict(verdict=word, reasons=[*reasons])


def test_a_rejection_without_reasons_is_a_rejection(policy):
    """A system before this one took an empty list of violations for an approval."""
    audit = combine(audit_rules(CLEAN, policy, TOOLS), verdict("rejected"), None)
    assert not audit["passed"]
    assert audit["remarks"] == ["The auditor has rejected the plan and gives no reason."]


def test_only_two_approvals_are_an_approval(policy):
    forged = ModelVerdict.model_construct(verdict="Approved!", reasons=[])
    said = [verdict("approved"), verdict("rejected"), verdict("rejected", "No."), forged]
    said += [None, {"verdict": "approved", "reasons": []}, "approved"]
    for rules in (audit_rules(CLEAN, policy, TOOLS), audit_rules(DIRTY, policy, TOOLS)):
        for each in said:
            for failure in (None, "", "No reply."):
                passed = combine(rules, each, failure)["passed"]
                without_model = each is None and failure is None
                approved = each == verdict("approved") and failure is None
                assert passed is (rules["passed"] and (without_model or approved))


def test_what_the_model_says_is_kept_beside_what_the_rules_say(policy):
    rules = audit_rules(DIRTY, policy, TOOLS)
    audit = combine(rules, verdict("rejected", "Step 1 pries."), None)
    assert audit["remarks"] == [*rules["remarks"], "Step 1 pries."]
    assert audit["checks"] == rules["checks"]
    unread = combine(audit_rules(CLEAN, policy, TOOLS), None, "Four replies\nwere malformed.")
    assert unread["remarks"] == ["Four replies were malformed."]
    assert "could not be read, so the plan is not approved" in unread["summary"]


@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        '{"verdict": "approved"}',
        '{"verdict": "APPROVED", "reasons": []}',
        '{"verdict": true, "reasons": []}',
        '{"verdict": "approved", "reasons": "none"}',
        '{"verdict": "approved", "reasons": [], "override": true}',
    ],
)
def test_a_verdict_is_read_strictly(reply):
    with pytest.raises(ValidationError):
        ModelVerdict.model_validate_json(reply)


# Where it is found


@pytest.fixture
def places(tmp_path, monkeypatch):
    beside, workspace = tmp_path / "beside", tmp_path / "workspace"
    beside.mkdir()
    workspace.mkdir()
    monkeypatch.chdir(beside)
    return beside, workspace


def test_the_nearest_policy_applies_and_says_which_it_is(places, tmp_path):
    """A system before this one fell back on a default without a word."""
    beside, workspace = places
    given = tmp_path / "mine.md"
    assert find(None, workspace).name == "deepnb's default policy"
    for path, name in [
        (workspace / "POLICY.md", "workspace POLICY.md"),
        (beside / "POLICY.md", "./POLICY.md"),
    ]:
        path.write_text(TEXT, encoding="utf-8-sig")
        assert find(None, workspace).name == name
        assert audit_rules(CLEAN, find(None, workspace), TOOLS)["policy"] == name
    given.write_text(TEXT)
    assert find(given, workspace).name == find(str(given), workspace).name == str(given)
    assert find(TEXT, workspace).name == "the given policy"
    assert find().name == "./POLICY.md"


@pytest.mark.parametrize("where", ["beside", "workspace", "given"])
@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("- be nice\n"),
        lambda path: path.write_bytes(b"\xff\xfe#"),
        lambda path: path.write_text(TEXT + "x" * 70_000),
        lambda path: path.write_text(""),
        lambda path: path.mkdir(),
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to("nowhere.md"),
        lambda path: path.symlink_to(ROOT / "agents" / "research" / "POLICY.md"),
    ],
    ids=["invalid", "encoding", "large", "empty", "folder", "pipe", "device", "dangling", "link"],
)
def test_one_that_is_there_and_cannot_be_used_is_an_error_and_never_the_default(
    places, tmp_path, where, make
):
    beside, workspace = places
    folder = {"beside": beside, "workspace": workspace, "given": tmp_path}[where]
    make(folder / "POLICY.md")
    with pytest.raises(PolicyError):
        find(folder / "POLICY.md" if where == "given" else None, workspace)


def test_one_that_was_given_has_to_be_there(places):
    for missing in ("nowhere.md", Path("nowhere.md"), "", "a\0b"):
        with pytest.raises(PolicyError, match="nothing is approved"):
            find(missing)


# What comes with deepnb


def test_the_default_searches_and_reads_but_no_secrets(places):
    policy = find()
    for tool, given in [
        ("search_knowledge", "x"),
        ("read_file", "a/b.pdf"),
        ("web_search", "x"),
        ("fetch_page", "https://example.org/"),
    ]:
        assert policy.permits(TOOLS[tool], given) is None
    for secret in (".env", "a/.env.local", ".git/config", "keys/id_rsa.pub", "x/server.PEM"):
        assert policy.permits(TOOLS["read_file"], secret)
    assert policy.permits(TOOLS["sums"], "1") is None, "nobody but the person has given it"
    assert policy.text


def test_the_example_in_the_docs_is_a_policy():
    example = re.search(r"```markdown\n(.*?)```", DOCS.read_text(), re.DOTALL)[1]
    policy = Policy.parse(example, "docs")
    assert policy.permits(TOOLS["read_file"], "transcripts/1.md") is None
    assert policy.permits(TOOLS["read_file"], "transcripts/raw/1.md")
    assert policy.permits(TOOLS["web_search"], "x")
