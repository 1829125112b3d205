// Command logs as files: complete, of another version, cut anywhere, damaged anywhere.
#include "client/analysis/preflight/command_log.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

namespace hlod::analysis {
namespace {

using ::testing::HasSubstr;

void Append(std::string& file, const v1::CommandLogEntry& entry) {
  google::protobuf::io::StringOutputStream out(&file);
  google::protobuf::io::CodedOutputStream coded(&out);
  coded.WriteVarint64(entry.ByteSizeLong());
  entry.SerializeToCodedStream(&coded);
}

v1::CommandLogEntry CommandEntry(uint64_t id) {
  v1::CommandLogEntry entry;
  entry.set_at_us(static_cast<int64_t>(id) * 10);
  entry.mutable_command()->set_id(id);
  return entry;
}

// Returns a file with a header, a program in two chunks and one in one piece, a goodbye and the end.
std::string WholeFile() {
  std::string file = "hlod command log 1\n";
  v1::CommandLogEntry header;
  header.mutable_header()->set_client("train pid 17");
  Append(file, header);
  v1::CommandLogEntry compile = CommandEntry(1);
  compile.mutable_command()->mutable_compile()->set_executable(1);
  compile.mutable_command()->mutable_compile()->set_module_bytes(6);
  Append(file, compile);
  for (uint64_t id : {2, 3}) {
    v1::CommandLogEntry chunk = CommandEntry(id);
    chunk.mutable_command()->mutable_program_chunk()->set_data(id == 2 ? "abc" : "def");
    Append(file, chunk);
  }
  v1::CommandLogEntry whole = CommandEntry(4);
  whole.mutable_command()->mutable_compile()->set_executable(2);
  whole.mutable_command()->mutable_compile()->set_module("abc");
  Append(file, whole);
  v1::CommandLogEntry goodbye = CommandEntry(5);
  goodbye.mutable_command()->mutable_goodbye();
  Append(file, goodbye);
  v1::CommandLogEntry end;
  end.mutable_end()->set_commands(5);
  Append(file, end);
  return file;
}

std::string ErrorOf(const std::string& file) {
  const absl::StatusOr<CommandLog> read = ParseCommandLog(file, "commands.log");
  return read.ok() ? "" : std::string(read.status().message());
}

TEST(CommandLog, HasItsCommandsAndPrograms) {
  const absl::StatusOr<CommandLog> read = ParseCommandLog(WholeFile(), "commands.log");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->complete);
  EXPECT_EQ(read->header.client(), "train pid 17");
  ASSERT_EQ(read->entries.size(), 5);
  EXPECT_EQ(read->entries[4].at_us(), 50);
  const std::map<std::string, std::string> programs = ProgramsOf(*read);
  // sha256sum of "abc", and of "abcdef".
  EXPECT_EQ(programs.at("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "abc");
  EXPECT_EQ(programs.at("bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"), "abcdef");
}

TEST(CommandLog, OfAnotherVersionOrKindIsNamed) {
  std::string later = WholeFile();
  later.replace(later.find('1'), 1, "2");
  EXPECT_EQ(ErrorOf(later), "commands.log is a command log of version 2; this program reads version 1.");
  EXPECT_EQ(ErrorOf("HloModule axpy\n"), "commands.log is not a command log.");
  EXPECT_EQ(ErrorOf("hlod command log x\n"), "commands.log is not a command log.");
  EXPECT_EQ(ErrorOf(""), "commands.log is cut in its first line.");
}

TEST(CommandLog, CutAnywhereIsAnErrorOrReadAsFarAsItGoes) {
  const std::string whole = WholeFile();
  std::string header;
  v1::CommandLogEntry entry;
  entry.mutable_header()->set_client("train pid 17");
  Append(header, entry);
  const size_t header_end = whole.find('\n') + 1 + header.size();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_NE(ErrorOf(cut), "") << size;
    const absl::StatusOr<CommandLog> read = ParseCommandLog(cut, "commands.log", /*allow_incomplete=*/true);
    if (size < whole.find('\n') + 1) {
      EXPECT_FALSE(read.ok()) << size;
      continue;
    }
    if (size < header_end) {  // Without the header the commands' session is unknown.
      EXPECT_EQ(std::string(read.status().message()),
                "commands.log is cut: it has no header, without which none of it can be replayed.")
          << size;
      continue;
    }
    ASSERT_TRUE(read.ok()) << size << read.status();
    EXPECT_FALSE(read->complete) << size;
  }
  EXPECT_THAT(ErrorOf(whole.substr(0, whole.size() - 1)),
              HasSubstr("commands.log ends in the middle of entry 6, at byte "));
  // The last entry, the end, is missing.
  std::string no_end = whole;
  v1::CommandLogEntry end;
  end.mutable_end()->set_commands(5);
  std::string last;
  Append(last, end);
  no_end.resize(whole.size() - last.size());
  EXPECT_THAT(ErrorOf(no_end), HasSubstr("commands.log has no end after 5 commands"));
}

TEST(CommandLog, DamagedAnywhereIsAnErrorOrARecordingAndNeverACrash) {
  const std::string whole = WholeFile();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char damage : {'\0', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = damage;
      ParseCommandLog(damaged, "commands.log").status().IgnoreError();
      ParseCommandLog(damaged, "commands.log", /*allow_incomplete=*/true).status().IgnoreError();
    }
  }
}

TEST(CommandLog, AnEntryThatNoMessageCanBeIsDamageAndNotACut) {
  std::string file = WholeFile();
  file.resize(file.size() - 2);
  EXPECT_TRUE(ParseCommandLog(file, "commands.log", /*allow_incomplete=*/true).ok());
  file = "hlod command log 1\n\x80\x80\x80\x80\x08";  // 2^31 as a varint.
  EXPECT_EQ(std::string(ParseCommandLog(file, "commands.log", /*allow_incomplete=*/true).status().message()),
            "commands.log is damaged at byte 19, in entry 0: its size is 2147483648; an entry has at most "
            "2147483647 bytes.");
}

TEST(CommandLog, CommandsInWrongOrderOrCountAreDamage) {
  std::string file = "hlod command log 1\n";
  v1::CommandLogEntry header;
  header.mutable_header();
  Append(file, header);
  Append(file, CommandEntry(2));
  std::string twice = file;
  Append(twice, CommandEntry(2));
  EXPECT_THAT(ErrorOf(twice), HasSubstr("its command is not after the one before"));
  std::string second_header = file;
  Append(second_header, header);
  EXPECT_THAT(ErrorOf(second_header), HasSubstr("a header is the first entry, and only the first"));
  v1::CommandLogEntry end;
  end.mutable_end()->set_commands(7);
  Append(file, end);
  EXPECT_THAT(ErrorOf(file), HasSubstr("7 commands were recorded"));
}

}  // namespace
}  // namespace hlod::analysis
