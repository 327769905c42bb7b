"""Splits one of our headers into its declarations, for tools/reference.

It understands our style, not C++ in general: a comment is above a declaration or behind it. Bodies are skipped."""
import dataclasses
import re

BEHIND = 10  # a comment that starts further right continues the one behind the declaration before it


@dataclasses.dataclass
class Declaration:
    code: str  # without its body, on one line
    comment: list
    body: str = None  # of a namespace, a class or an enum
    access: str = "public"


def skip_literal(text, at):
    """The position after the string or character literal that begins here. The ' in 200'000 begins no literal."""
    if text[at] == "'" and text[at - 1].isalnum():
        return at + 1
    end = at + 1
    while text[end] != text[at]:
        end += 2 if text[end] == "\\" else 1
    return end + 1


def closing(text, at):
    """The position after the brace or parenthesis that closes the one here."""
    depth = 0
    while True:
        if text[at] in "\"'":
            at = skip_literal(text, at)
            continue
        if text.startswith("//", at):
            at = text.index("\n", at)
        depth += (text[at] in "{(") - (text[at] in "})")
        at += 1
        if depth == 0:
            return at


def without_angles(code):
    """The code without the parts in <>. The rest shows whether there are parameters."""
    plain, depth = "", 0
    for at, char in enumerate(code):
        opens = char == "<" and (depth or re.search(r"\w\s*$", code[:at])) and not code[:at].endswith("operator")
        closes = char == ">" and depth and code[at - 1] != "-"
        depth += bool(opens) - bool(closes)
        if not depth and not closes:
            plain += char
    return plain


def essence(code):
    """The code without attributes, template<…> and a requires clause before it."""
    code = re.sub(r"\[\[.*?\]\]\s*", "", code)
    plain = re.sub(r"^template\s*", "", without_angles(code))
    return re.sub(r"^requires\s*(\([^()]*(\([^()]*\))*[^()]*\)|requires \{[^}]*\}|[\w:]+( && [\w:]+)*)\s*", "", plain).strip()


def opens_scope(code):
    return re.match(r"(inline )?(namespace|class|struct|union|enum)\b(?!.*\()", essence(code))


def is_function_body(code):
    """Whether a brace after this code begins the body of a function, and not a scope, a value or a requirement."""
    plain = essence(code)
    if opens_scope(code) or re.search(r"\brequires\s*$", code) or "(" not in plain.replace("(*", ""):
        return False
    if re.search(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*\W+", "", re.sub(r"\([^()]*\)", "", plain))):
        return False
    initialises_member = re.search(r"\)\s*:(?!:)", plain) and re.search(r"[\w>]\s*$", plain)
    return not initialises_member


def one_line(code):
    """The code without comments and line breaks."""
    code = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', r"\1", code)
    return re.sub(r"\s+", " ", code).strip()


class Reader:
    """Reads the text of a header, or the body of a class."""

    def __init__(self, text, access="public"):
        self.text, self.at, self.access = text, 0, access
        self.comment, self.found = [], []

    def read(self):
        while True:
            gap = re.compile(r"\s*").match(self.text, self.at)
            if gap.group().count("\n") > 1:
                self.comment = []
            self.at = gap.end()
            if self.at >= len(self.text):
                return self.found
            self.step()

    def rest_of_line(self):
        end = self.text.find("\n", self.at)
        line = self.text[self.at : end if end >= 0 else len(self.text)]
        self.at += len(line)
        return line

    def column(self):
        return self.at - self.text.rfind("\n", 0, self.at) - 1

    def step(self):
        label = re.compile(r"(public|protected|private):").match(self.text, self.at)
        if self.text.startswith("//", self.at):
            self.read_comment()
        elif self.text[self.at] == "#":
            self.read_directive()
        elif label:
            self.access, self.at, self.comment = label.group(1), label.end(), []
        elif self.text[self.at] == ";":
            self.at += 1
        else:
            self.read_declaration()

    def read_comment(self):
        behind = self.found and self.found[-1].comment and not self.comment and self.column() > BEHIND
        line = self.rest_of_line()[2:].removeprefix(" ").rstrip()
        if not line.startswith("NOLINT"):
            (self.found[-1].comment if behind else self.comment).append(line)

    def read_directive(self):
        line = self.rest_of_line()
        while line.endswith("\\"):
            self.at += 1
            line = line[:-1] + self.rest_of_line()
        if macro := re.match(r"#define (\w+\([^)]*\))", line):
            self.found.append(Declaration("#define " + macro.group(1), self.comment))
        self.comment = []

    def read_declaration(self):
        start = self.at
        code, body = self.code_and_body()
        declaration = Declaration(one_line(code), self.comment, body, self.access)
        self.comment = []
        behind = re.compile(r"[ ]*//(?! ?NOLINT)[ ]?(.*)").match(self.text, self.at)
        if behind and (body is None or "\n" not in self.text[start : self.at]):
            declaration.comment = declaration.comment or [behind.group(1).rstrip()]
            self.at = behind.end()
        self.found.append(declaration)

    def code_and_body(self):
        """Reads to the end of a declaration. Only a namespace, a class or an enum has a body here."""
        code, body = "", None
        while True:
            char, end = self.text[self.at], self.at + 1
            if self.text.startswith("//", self.at):
                self.at = self.text.index("\n", self.at)
                continue
            if char in "\"'":
                end = skip_literal(self.text, self.at)
            elif char in "({":
                end = closing(self.text, self.at)
            if char == ";" or char == "{" and is_function_body(code):
                self.at = end
                return code, body
            if char == "{" and body is None and opens_scope(code):
                body = self.text[self.at + 1 : end - 1]
                self.at = end
                if "namespace" in code:
                    return code, body
                continue
            code += self.text[self.at : end]
            self.at = end


def opening(text):
    """The comment at the top of a header."""
    return [line[2:].removeprefix(" ") for line in re.match(r"(//[^\n]*\n)*", text).group().splitlines()]


def declarations(text):
    """The declarations of a header. A macro is private, unless the comment of its header is about it; then it has that comment."""
    comment = opening(text)
    for each in Reader(text[re.match(r"(//[^\n]*\n)*", text).end() :]).read():
        macro = re.match(r"#define (\w+)", each.code)
        if not macro:
            yield each
        elif comment and comment[0].startswith(macro.group(1)):
            yield dataclasses.replace(each, comment=comment)
