// A profile that was written can be read again, and errors name the damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "client/runtime/observe/profile_writer.h"
#include "hlod/observe/profile.h"
#include "hlod/tensor/trace.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ExamplePath() { return SourceDir() / "tests/golden/run/example.jsonl"; }
std::string Example() {
  std::ifstream file(ExamplePath());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
std::string ErrorOfText(const std::string& text) {
  const absl::StatusOr<Profile> run = ParseProfile(text, "profile.jsonl");
  return run.ok() ? "" : std::string(run.status().message());
}

TEST(RunFiles, TheExampleIsReadAsItStands) {
  const Profile run = ReadProfile(ExamplePath()).value();
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.program, "example");
  ASSERT_EQ(run.events.size(), 11u);
  const auto& close = std::get<CloseEvent>(run.events[8].what);
  EXPECT_EQ(close.cause, TraceCause::kSync);
  EXPECT_EQ(close.origin, (Origin{"example.cc", 14, "main"}));
  ASSERT_EQ(close.inputs.size(), 2u);
  EXPECT_EQ(close.inputs[0].shape, Shape::Array(hlo::kF32, {256}));
  EXPECT_TRUE(close.inputs[0].donated);
  EXPECT_TRUE(close.inputs[1].number);
  EXPECT_EQ(close.found, ProgramSource::kCompiled);
  EXPECT_EQ(std::get<WaitEvent>(run.events[5].what).us, 2051);
  ASSERT_EQ(run.accounts.size(), 1u);
  const SessionAccount& account = run.accounts[0].account;
  EXPECT_EQ(account.stats.host_to_device, (Amount{1024, 1}));
  EXPECT_EQ(account.runs[0].run, (Distribution{30, 30, 30}));
  EXPECT_EQ(account.compiles[1].reason, CompileReason::kFirst);
  EXPECT_EQ(account.stats.rows.size(), 2u);
}

TEST(RunFiles, WhatIsWrittenIsReadAgain) {
  Profile run = ReadProfile(ExamplePath()).value();
  auto& close = std::get<CloseEvent>(run.events[2].what);
  close.status = MakeError(ErrorKind::kDonated, "gone \"quoted\"\nsecond line");
  close.lower_us = 0.1;
  run.events[0].thread = UINT64_MAX;
  const std::string text = ToJsonLines(run);
  const Profile again = ParseProfile(text, "again").value();
  EXPECT_EQ(ToJsonLines(again), text);
  const auto& read = std::get<CloseEvent>(again.events[2].what);
  EXPECT_EQ(read.status.message(), close.status.message());
  EXPECT_EQ(KindOf(read.status), ErrorKind::kDonated);
  EXPECT_EQ(read.lower_us, 0.1);
  EXPECT_EQ(again.events[0].thread, UINT64_MAX);
}

TEST(RunFiles, AFileCutInHalfIsNamedWithItsLine) {
  const std::string text = Example();
  const size_t end = text.rfind("{\"end\"");
  EXPECT_THAT(ErrorOfText(text.substr(0, end)),
              HasSubstr("profile.jsonl, line 13: the file is cut after this"));
  EXPECT_THAT(ErrorOfText(text.substr(0, end - 10)),
              AllOf(HasSubstr("line 13: the file is cut here"), HasSubstr("--incomplete")));
  const Profile half = ParseProfile(text.substr(0, end - 10), "half", {.allow_incomplete = true}).value();
  EXPECT_FALSE(half.complete);
  EXPECT_EQ(half.events.size(), 11u);
  EXPECT_TRUE(half.accounts.empty());
}

// A file that is cut anywhere is an error or, when that is allowed, a shorter profile.
TEST(RunFiles, ACutAnywhereIsAnError) {
  const std::string text = Example();
  for (size_t size = 0; size + 1 < text.size(); size += 7) {
    EXPECT_FALSE(ParseProfile(text.substr(0, size), "cut").ok()) << size;
    static_cast<void>(ParseProfile(text.substr(0, size), "cut", {.allow_incomplete = true}));
  }
}

TEST(RunFiles, DamageIsNamed) {
  const std::string text = Example();
  const struct {
    std::string from, to, error;
  } kCases[] = {
      {"\"hlod_profile\":1", "\"hlod_profile\":2", "version 2; this program reads version 1"},
      {"{\"hlod_profile\":1", "{\"other\":1", "is not a profile"},
      {"\"cause\":\"item\"", "\"cause\":\"whim\"", "line 4: cause: \"whim\" is not known"},
      {"\"nodes\":4", "\"knots\":4", "line 4: there is not a field knots"},
      {"\"nodes\":4", "\"nodes\":\"4\"", "line 4: nodes: \"4\" is not a whole number"},
      {"\"nodes\":4", "\"nodes\":[[1]]", "line 4: nodes: array is not a whole number"},
      {"\"line\":10", "\"line\":99999999999", "line 2: origin: line: 99999999999 is out of range"},
      {"\"thread\":17", "\"thread\":-1", "line 2: thread: -1 is out of range"},
      {"f32[256]", "f32[256", "line 2: value: shape:"},
      {"{\"event\":\"step\"", "{\"event\":\"leap\"", "\"leap\" is not an event"},
      {"{\"event\":\"step\"", "{\"events\":\"step\"", "this is not an event, an account or the end"},
      {"\"events\":11", "\"events\":12", "ends with 12 events and 1 accounts; 11 and 1 were read"},
  };
  for (const auto& c : kCases) {
    std::string damaged = text;
    damaged.replace(damaged.find(c.from), c.from.size(), c.to);
    EXPECT_THAT(ErrorOfText(damaged), HasSubstr(c.error)) << c.from;
  }
  EXPECT_THAT(ErrorOfText(""), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOfText(text + "{}\n"), HasSubstr("line 15: there is more after the end"));
  EXPECT_THAT(std::string(ReadProfile("/nonexistent/run").status().message()),
              HasSubstr("/nonexistent/run cannot be read: No such file"));
}

TEST(RunFiles, AFileThatCannotBeWrittenIsAnError) {
  const auto file = ProfileFile::Open("/nonexistent/profile.jsonl");
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("The profile /nonexistent/profile.jsonl cannot be written: No such file"));
}

// 2 of 5 uploads and 1 of 3 runs are in the earlier account.
TEST(RunFiles, AnAccountSinceAnotherHasWhatWasAdded) {
  SessionAccount earlier, later;
  TransferRow upload;
  upload.cause = Cause::kUpload;
  upload.origin = {"a.cc", 1, "f"};
  upload.amount = {20, 2};
  earlier.transfers = {upload};
  earlier.stats.host_to_device = upload.amount;
  upload.amount = {50, 5};
  later.transfers = {upload};
  later.stats.host_to_device = upload.amount;
  RunRow run;
  run.digest = "aa";
  run.count = 1;
  run.run = {7, 7, 7};
  earlier.runs = {run};
  run.count = 3;
  run.run = {7, 9, 24};
  later.runs = {run};
  later.compiles = {{.digest = "bb", .at_us = 30}, {.digest = "aa", .at_us = 10}};
  earlier.compiles = {{.digest = "aa", .at_us = 10}};
  const SessionAccount since = runtime::AccountSince(earlier, later);
  EXPECT_EQ(since.stats.host_to_device, (Amount{30, 3}));
  ASSERT_EQ(since.transfers.size(), 1u);
  EXPECT_EQ(since.transfers[0].amount, (Amount{30, 3}));
  ASSERT_EQ(since.runs.size(), 1u);
  EXPECT_EQ(since.runs[0].count, 2);
  EXPECT_EQ(since.runs[0].run.sum_us, 17);
  ASSERT_EQ(since.compiles.size(), 1u);
  EXPECT_EQ(since.compiles[0].digest, "bb");
  EXPECT_TRUE(runtime::AccountSince(later, later).runs.empty());
}

}  // namespace
}  // namespace hlod
