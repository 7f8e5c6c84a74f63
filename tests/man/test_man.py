"""The man pages: right to groff and mandoc, and with all that the help has. GPUIMG_SHARE is the folder they lie below."""
import glob
import os
import re
import shutil
import subprocess

import pytest

PAGES = sorted(glob.glob(os.path.join(os.environ["GPUIMG_SHARE"], "man/man1/*.1")))
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"]


def run(*args, **options):
    return subprocess.run(args, capture_output=True, text=True, check=False, **options)


def told(*args):
    ran = run(os.environ["GPUIMG"], *args, env={**os.environ, "COLUMNS": "300"})
    assert ran.returncode == 0
    return ran.stdout


def name_of(page):
    return os.path.basename(page)[:-len(".1")]


def shown(page):
    """The page as man shows it: dashes and quotes as typed, words not broken."""
    ran = run("groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-rHY=0", "-rLL=200n", page)
    assert ran.returncode == 0
    return " ".join(ran.stdout.split())


def commands():
    return re.findall(r"^  ([a-z]+) {2,}\S", told("help"), re.M)


def test_a_page_for_each_command():
    assert {name_of(page) for page in PAGES} == {"gpuimg"} | {f"gpuimg-{name}" for name in commands()}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_groff_and_mandoc_have_no_complaint(page):
    for tool in (["groff", "-man", "-ww", "-z", "-Tutf8", page], ["mandoc", "-T", "lint", "-W", "warning", page]):
        if not shutil.which(tool[0]):
            pytest.skip(f"{tool[0]} is not installed")
        ran = run(*tool)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_line_for_whatis(page):
    with open(page, encoding="ascii") as file:
        text = file.read()
    name = name_of(page).replace("-", "\\-")
    assert re.search(rf"^\.SH NAME\n{re.escape(name)} \\- \S.*$", text, re.M)
    version = told("--version").split()[1]
    assert re.search(rf'^\.TH {re.escape(name.upper())} 1 \d{{4}}-\d\d-\d\d "gpuimg {version}"', text, re.M)


@pytest.mark.parametrize("command", commands())
def test_a_page_says_what_the_help_says(command):
    text = shown(next(page for page in PAGES if name_of(page) == f"gpuimg-{command}"))
    assert all(f" {section} " in text for section in SECTIONS)
    help_text = told("help", command)
    for line in help_text.split("\nExamples:\n")[1].splitlines():
        assert line.strip() in text
    for names, meaning in re.findall(r"^  ((?:-\w, )?--\S+(?: \S+)?) {2,}(\S.*)$", help_text, re.M):
        assert names in text
        assert meaning in text, (names, meaning)
    usage = help_text.splitlines()[0][len("Usage: "):]
    assert usage in text
    # What help has as topics stands in sections of the page, in the same words.
    (topics,) = re.findall(r"^More: 'gpuimg help ([a-z|]+)'\.$", help_text, re.M)
    assert ("manifests" in topics) == (command in STAGES + ["run"])
    for topic in topics.split("|"):
        assert f" {SECTIONS_OF_TOPICS[topic]} " in text
        for words in topic_texts(topic):
            assert words in text


STAGES = re.findall(r"^  ([a-z]+) {2,}\S", told("help").split("\nOther commands:")[0], re.M)
SECTIONS_OF_TOPICS = {"manifests": "MANIFESTS", "status": "EXIT STATUS", "variables": "ENVIRONMENT"}


def topic_texts(topic):
    """Each paragraph or item of a topic, as it stands in a line."""
    entries = re.findall(r"^  (\S.*?) {2,}(\S.*(?:\n {3,}\S.*)*)$", told("help", topic), re.M)
    return [flat(word) for entry in entries for word in entry] or [flat(told("help", topic))]


def flat(text):
    return " ".join(text.split())


def test_the_overview():
    text = shown(next(page for page in PAGES if name_of(page) == "gpuimg"))
    for command in commands():
        assert f"gpuimg-{command}(1)" in text
    for topic, section in SECTIONS_OF_TOPICS.items():
        assert f" {section} " in text and all(words in text for words in topic_texts(topic))
    assert "gpuimg help [COMMAND|TOPIC]" in text and f"gpuimg help {'|'.join(SECTIONS_OF_TOPICS)}." in text
