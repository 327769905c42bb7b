// Error messages for wrong files, word for word: the wording is the feature.

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace easyretry::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Lt;
using testing::SizeIs;
using testing::StartsWith;

TEST(ConfigErrors, AnUnknownKeyIsPlacedAndCorrected) {
  EXPECT_EQ(problem_of("store: 'memory:'\nworkerz: 8\n"),
            "easyretry.yaml:2:1: workerz: unknown key, did you mean workers?");
  EXPECT_EQ(problem_of("defaults:\n  max_atempts: 8\n"),
            "easyretry.yaml:2:3: defaults.max_atempts: unknown key, did you mean max_attempts?");
  EXPECT_EQ(problem_of("handlers:\n  payment.pay:\n    timeot: 8s\n"),
            "easyretry.yaml:3:5: handlers.payment.pay.timeot: unknown key, did you mean timeout?");
}

TEST(ConfigErrors, AKeyLikeNoOtherGetsTheListOfThoseThereAre) {
  EXPECT_EQ(problem_of("colour: red"),
            "easyretry.yaml:1:1: colour: unknown key; the known keys are store, shards, namespace, workers, window, "
            "poll, grace, "
            "membership, assignment, at_start, lease, batch, read_ahead, max_crashes, max_payload, drain, "
            "encryption, defaults, handlers, log, server, alerts");
  EXPECT_EQ(
      problem_of("defaults: {colour: red}"),
      "easyretry.yaml:1:12: defaults.colour: unknown key; the known keys are persist, backoff, max_attempts, "
      "max_duration, "
      "deadline, retry_on, never_retry, success_when, concurrency, timeout, class, circuit, limit, keep, keep_args, "
      "keep_results, url, secrets_file");
}

TEST(ConfigErrors, AKeyInTheWrongPlaceIsSentToTheRightOne) {
  EXPECT_EQ(problem_of("max_attempts: 5"),
            "easyretry.yaml:1:1: max_attempts: belongs to a handler; move it under defaults, or under one of handlers");
  EXPECT_EQ(problem_of("defaults: {workers: 5}"),
            "easyretry.yaml:1:12: defaults.workers: belongs to the engine; move it to the top, without indentation");
}

TEST(ConfigErrors, AKeyGivenTwiceIsRefusedAtEveryLevel) {
  EXPECT_EQ(problem_of("workers: 8\nnamespace: a\nworkers: 9\n"),
            "easyretry.yaml:3:1: workers: given twice, first in line 1; keep one");
  EXPECT_EQ(problem_of("defaults:\n  timeout: 8s\n  timeout: 8s\n"),
            "easyretry.yaml:3:3: defaults.timeout: given twice, first in line 2; keep one");
  EXPECT_EQ(problem_of("handlers:\n  a: {}\n  'a': {}\n"),
            "easyretry.yaml:3:3: handlers.a: given twice, first in line 2; keep one");
}

TEST(ConfigErrors, RetentionSaysItsForm) {
  const std::string form = "; write none, or a duration from 1s to 3650d, such as 7d";
  EXPECT_EQ(problem_of("defaults: {keep: forever}"),
            "easyretry.yaml:1:18: defaults.keep: \"forever\" is not a duration" + form);
  EXPECT_EQ(problem_of("defaults: {keep: 500ms}"), "easyretry.yaml:1:18: defaults.keep: 500ms is too short" + form);
  EXPECT_EQ(problem_of("defaults: {keep_args: 4000d}"),
            "easyretry.yaml:1:23: defaults.keep_args: 4000d is too long" + form);
  EXPECT_EQ(problem_of("handlers: {pay: {keep: 7}}"),
            "easyretry.yaml:1:24: handlers.pay.keep: 7 has no unit; write 7d for days");
  EXPECT_EQ(problem_of("handlers: {pay: {keep: 0}}"),
            "easyretry.yaml:1:24: handlers.pay.keep: 0 has no unit; write none to keep nothing");
  EXPECT_EQ(problem_of("handlers: {pay: {keep: [7d]}}"), "easyretry.yaml:1:24: handlers.pay.keep: found a list" + form);
  EXPECT_THAT(problem_of("keep: 7d"), HasSubstr("keep: belongs to a handler"));
}

TEST(ConfigErrors, NumbersSayTheirRange) {
  EXPECT_EQ(problem_of("workers: many"),
            "easyretry.yaml:1:10: workers: \"many\" is not a whole number; write a whole number from 1 to 4096");
  EXPECT_EQ(problem_of("workers: 0"),
            "easyretry.yaml:1:10: workers: 0 is too small; write a whole number from 1 to 4096");
  EXPECT_EQ(problem_of("workers: -3"),
            "easyretry.yaml:1:10: workers: -3 is too small; write a whole number from 1 to 4096");
  EXPECT_EQ(problem_of("workers: 99999999999999999999"),
            "easyretry.yaml:1:10: workers: 99999999999999999999 is too large; write a whole number from 1 to 4096");
  EXPECT_THAT(problem_of("workers: -99999999999999999999"), HasSubstr("is too small"));
  for (const char* text : {"1.5", "1e3", "0x10", "+5", "''", "true", "1_000"}) {
    EXPECT_THAT(problem_of("workers: " + std::string{text}), HasSubstr("is not a whole number")) << text;
  }
}

TEST(ConfigErrors, DurationsSayTheirUnitAndRange) {
  EXPECT_EQ(problem_of("lease: 30"), "easyretry.yaml:1:8: lease: 30 has no unit; write 30s for seconds");
  EXPECT_EQ(problem_of("drain: 0"), "easyretry.yaml:1:8: drain: 0 has no unit; write 0s for seconds");
  EXPECT_EQ(problem_of("lease: -30s"),
            "easyretry.yaml:1:8: lease: duration \"-30s\": it is negative; write a whole number and one of ms, s, m "
            "(or min), h, d, such as 250ms or 15m");
  EXPECT_EQ(problem_of("lease: 0s"),
            "easyretry.yaml:1:8: lease: 0s is too short; write a duration from 100ms to 1d, such as 30s");
  EXPECT_EQ(problem_of("lease: 2d"),
            "easyretry.yaml:1:8: lease: 2d is too long; write a duration from 100ms to 1d, such as 30s");
  EXPECT_THAT(problem_of("defaults: {max_duration: 4000d}"), HasSubstr("4000d is too long"));
  for (const char* text : {"soon", "1h30m", "5 s", "1.5s", "5weeks", "99999999999999999999"}) {
    EXPECT_THAT(problem_of("lease: " + std::string{text}), HasSubstr("such as 250ms or 15m")) << text;
  }
}

TEST(ConfigErrors, TimesSayTheirForm) {
  EXPECT_EQ(problem_of("defaults: {deadline: tomorrow}"),
            "easyretry.yaml:1:22: defaults.deadline: time \"tomorrow\": not a time; write it in UTC, such as "
            "2026-03-01T12:00:00Z, or a date, such as 2026-03-01");
}

TEST(ConfigErrors, AFlagIsTrueOrFalse) {
  EXPECT_THAT(problem_of("encryption: {require: yes}"), testing::HasSubstr("true or false"));
  EXPECT_TRUE(parse_config("encryption: {require: true}").encryption.require);
}

TEST(ConfigErrors, AStrategySaysWhichThereAre) {
  EXPECT_EQ(problem_of("defaults: {persist: retry-only}"),
            "easyretry.yaml:1:21: defaults.persist: \"retry-only\" is unknown, did you mean retry_only?; write one of "
            "retry_only, on_failure, always, manual, never");
}

TEST(ConfigErrors, AStoreIsAUrl) {
  EXPECT_EQ(
      problem_of("store: retry.db"),
      "easyretry.yaml:1:8: store: \"retry.db\" has no scheme; write a url such as sqlite:retry.db, or memory: for "
      "tests");
  EXPECT_EQ(problem_of("store: sqlite:a.db?shards=4\nshards: 8\n"),
            "easyretry.yaml:2:1: shards is given here and in the url of store; keep one of them");
}

TEST(ConfigErrors, ASpaceHasAName) {
  EXPECT_EQ(problem_of("namespace: ''"),
            "easyretry.yaml:1:12: namespace: \"\" is empty; write a name of 1 to 64 characters, such as payments");
  EXPECT_EQ(problem_of("namespace: " + std::string(65, 'x')),
            "easyretry.yaml:1:12: namespace: \"" + std::string(60, 'x') +
                "\"… is too long; write a name of 1 to 64 characters, such as payments");
}

TEST(ConfigErrors, AnExpressionIsCompiledAtOnce) {
  EXPECT_THAT(problem_of("defaults:\n  success_when: result.code = 200\n"),
              StartsWith("easyretry.yaml:2:17: defaults.success_when: "));
}

TEST(ConfigErrors, ABackoffIsCheckedAtOnce) {
  EXPECT_EQ(problem_of("defaults: {backoff: expo first=1s}"),
            "easyretry.yaml:1:21: defaults.backoff: backoff \"expo first=1s\": unknown kind \"expo\"; the kinds are: "
            "exponential fixed linear ladder classic");
}

TEST(ConfigErrors, ExceptionTypesAreAList) {
  EXPECT_EQ(problem_of("defaults: {retry_on: std::exception}"),
            "easyretry.yaml:1:22: defaults.retry_on: found a single value; write a list of exception types, such as "
            "[std::invalid_argument], or [] for none");
  for (const char* list : {"['']", "[[a]]", "[{a: b}]", "[~]", "[\"a\\nb\"]"}) {
    EXPECT_THAT(problem_of("defaults: {retry_on: " + std::string{list} + "}"), HasSubstr("a list of exception types"))
        << list;
  }
}

TEST(ConfigErrors, OneKindOfThingIsNotAnother) {
  EXPECT_EQ(problem_of("- workers: 8\n"),
            "easyretry.yaml:1:1: found a list; write keys and values, such as \"workers: 8\"");
  EXPECT_EQ(problem_of("workers 8\n"),
            "easyretry.yaml:1:1: found a single value; write keys and values, such as \"workers: 8\"");
  EXPECT_EQ(problem_of("defaults: [max_attempts]"),
            "easyretry.yaml:1:11: defaults: found a list; write keys and values, such as \"max_attempts: 5\"");
  EXPECT_EQ(problem_of("handlers: [payment.pay]"),
            "easyretry.yaml:1:11: handlers: found a list; write keys and values, such as \"payment.pay: {timeout: "
            "10s}\"");
  EXPECT_EQ(problem_of("handlers: {payment.pay: 5}"),
            "easyretry.yaml:1:25: handlers.payment.pay: found a single value; write keys and values, such as "
            "\"max_attempts: 5\"");
  EXPECT_EQ(problem_of("workers: [8]"),
            "easyretry.yaml:1:10: workers: found a list; write a whole number from 1 to 4096");
  EXPECT_EQ(problem_of("lease: {of: 30s}"),
            "easyretry.yaml:1:8: lease: found keys and values; write a duration from 100ms to 1d, such as 30s");
}

TEST(ConfigErrors, AKeyWithoutAValueIsBlamedWhereItIs) {
  EXPECT_EQ(problem_of("workers:\nnamespace: a\n"),
            "easyretry.yaml:1:1: workers: no value; write a whole number from 1 to 4096, or delete the line");
}

TEST(ConfigErrors, AKeyIsAWord) {
  EXPECT_EQ(problem_of("? [a, b]\n: c\n"), "easyretry.yaml:1:3: a key cannot be a list; write a word, such as workers");
  EXPECT_THAT(problem_of("~: c\n"), HasSubstr("a key cannot be nothing"));
  EXPECT_THAT(problem_of("handlers: {'': {}}"), HasSubstr("a handler's name has 1 to 200 characters"));
  EXPECT_THAT(problem_of("handlers: {? " + std::string(201, 'x') + " : {}}"), HasSubstr("1 to 200 characters"));
}

TEST(ConfigErrors, TabsAreCalledTabs) {
  EXPECT_EQ(problem_of("defaults:\n\ttimeout: 8s\n"),
            "easyretry.yaml:2:1: indented with a tab; YAML allows only spaces, write two");
  EXPECT_EQ(problem_of("defaults:\n  \ttimeout: 8s\n"),
            "easyretry.yaml:2:3: indented with a tab; YAML allows only spaces, write two");
  EXPECT_EQ(problem_of("workers:\t8\t# eight\n\t\n \t# comment\n\t"), "accepted");
}

TEST(ConfigErrors, TextThatIsNotYamlIsExplained) {
  const auto not_yaml = [](const char* yaml) { return problem_of(yaml); };
  EXPECT_EQ(
      not_yaml("workers: 8\nnamespace: a: b\n"),
      "easyretry.yaml:2:13: not YAML: a colon where no key is allowed; check the indentation, and put a value that "
      "contains \": \" in quotes");
  EXPECT_EQ(not_yaml("defaults:\n  timeout: 8s\n max_attempts: 5\n"),
            "easyretry.yaml:3:2: not YAML: this line does not fit the lines above it; indent it like the lines it "
            "belongs to");
  EXPECT_EQ(not_yaml("workers: 8\ndefaults:\n  retry_on: [a, b\nnamespace: c\n"),
            "easyretry.yaml:3:13: not YAML: the bracket opened here is not closed, or its content is "
            "wrong; write [a, b] or {a: 1}");
  EXPECT_EQ(not_yaml("namespace: \"abc\n"), "easyretry.yaml:1:12: not YAML: the text ends inside quotes; close them");
  EXPECT_EQ(not_yaml("\xEF\xBB\xBFnamespace: 'abc\n"),
            "easyretry.yaml:1:12: not YAML: the text ends inside quotes; close them");
  EXPECT_EQ(not_yaml("namespace: @abc\n"),
            "easyretry.yaml:1:12: not YAML: a value cannot begin with this character; put it in quotes");
  EXPECT_EQ(not_yaml("namespace: a\n---\nnamespace: b\n"),
            "easyretry.yaml:2:1: not YAML: a second document begins here; a configuration is a single document");
  EXPECT_EQ(not_yaml("namespace: a\xFFz\n"), "easyretry.yaml:1:13: not UTF-8; save the file as UTF-8");
  EXPECT_EQ(problem_of(std::string_view{"namespace: a\0b", 14}), "easyretry.yaml:1:13: a control character; delete it");
  EXPECT_EQ(not_yaml("namespace: a\x04\nworkers: 0\n"), "easyretry.yaml:1:13: a control character; delete it");
}

TEST(ConfigErrors, AliasesAreNotSupported) {
  EXPECT_EQ(problem_of("namespace: &a x\nworkers: *a\n"),
            "easyretry.yaml:2:10: workers: found an alias (aliases are not supported); write a whole number from 1 to "
            "4096");
  EXPECT_EQ(problem_of("namespace: *a\n"),
            "easyretry.yaml:1:12: not YAML: aliases are not supported; write the value out");
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    const std::string before{static_cast<char>(c - 1)};
    bomb += std::string{c} + ": &" + c;
    bomb += " [*" + before + ", *" + before + ", *" + before + ", *" + before + "]\n";
  }
  EXPECT_THAT(problems_of(bomb), SizeIs(21));
}

TEST(ConfigErrors, AreReportedTogetherInTheOrderOfTheFile) {
  EXPECT_THAT(problems_of("workerz: 8\nlease: 30\ndefaults:\n  max_attempts: x\n  timeout: 1s\n  timeout: 2s\n"
                          "handlers: []\n",
                          {{"EASYRETRY_WORKERS", "0"}}),
              ElementsAre(StartsWith("easyretry.yaml:1:1: workerz:"), StartsWith("easyretry.yaml:2:8: lease:"),
                          StartsWith("easyretry.yaml:4:17: defaults.max_attempts:"),
                          StartsWith("easyretry.yaml:6:3: defaults.timeout:"),
                          StartsWith("easyretry.yaml:7:11: handlers:"), StartsWith("EASYRETRY_WORKERS: ")));
}

TEST(ConfigErrors, AreOneExceptionOfOneLineEach) {
  try {
    parse_config("workerz: 8\nlease: 30\n", "a.yaml");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "a.yaml:1:1: workerz: unknown key, did you mean workers?\n"
                 "a.yaml:2:8: lease: 30 has no unit; write 30s for seconds");
  }
}

TEST(ConfigErrors, AreAtMostTwentyLines) {
  std::string yaml;
  for (int i = 0; i < 500; ++i) yaml += "colour" + std::to_string(i) + ": red\n";
  const auto problems = problems_of(yaml);
  EXPECT_THAT(problems, SizeIs(21));
  EXPECT_EQ(problems.back(), "… and 480 more");
}

TEST(ConfigErrors, StayOneShortLineWhateverTheFileHolds) {
  const std::string long_text(10'000, 'x');
  for (const std::string& yaml : std::vector<std::string>{
           "lease: " + long_text, "workers: " + long_text, "? " + long_text + "\n: 1\n", "store: " + long_text,
           "defaults: {backoff: " + long_text + "}", "defaults: {deadline: " + long_text + "}",
           "defaults: {success_when: x " + long_text + "}", "lease: \"a\\nb\"", "\"a\\n\\e[31mb\": 1"}) {
    const std::string problem = problem_of(yaml);
    EXPECT_THAT(problem.size(), Lt(700U)) << problem;
    EXPECT_EQ(problem.find_first_of("\n\x1b"), std::string::npos) << problem;
    EXPECT_THAT(problem, StartsWith("easyretry.yaml:1:"));
  }
}

TEST(ConfigErrors, AFileTooLargeIsNotReadAtAll) {
  EXPECT_EQ(problem_of(std::string(1'048'577, '#')),
            "easyretry.yaml: larger than 1 MiB; a configuration is a page or two, so this is probably the wrong file");
  EXPECT_EQ(problem_of(std::string(1'048'576, '#')), "accepted");
}

std::string repeated(std::string_view text) {
  std::string all;
  while (all.size() < 262'144) all += text;
  return all;
}

// Made to be slow, deep or large. Reading in quadratic time would take minutes.
TEST(ConfigErrors, HostileFilesAreRefusedInGoodTime) {
  for (const char* text : {"[", "{a: ", "- ", "? ", "[a,", "\t", " \t", "a\n", "a:\n", "\"", "&a ", "!a ", "---\n",
                           "*a ", "a: &a [*a, *a]\n"}) {
    const auto begin = std::chrono::steady_clock::now();
    problems_of(repeated(text));
    EXPECT_THAT(std::chrono::steady_clock::now() - begin, Lt(std::chrono::seconds{20})) << text;
  }
  EXPECT_THAT(problem_of(repeated("[")), HasSubstr("nested too deeply; a configuration has three levels"));
}

}  // namespace
}  // namespace easyretry::config
