// The persistent compile cache: the programs that a second daemon finds, and the files that it rejects.
#include "server/device/programs/compile_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/base/system/file.h"
#include "common/hlo/proto/wire_count.h"
#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Returns f32[4] x -> x * factor + x, with an instruction that the passes drop. `line` is the program's
// source line.
std::string ScaleProgram(int factor, int line = 1, std::string_view name = "scale") {
  return ProgramOf(absl::StrFormat(
      R"(HloModule %s
ENTRY main {
  x = f32[4] parameter(0)
  n = f32[] constant(%d)
  f = f32[4] broadcast(n), dimensions={}
  y = f32[4] multiply(x, f), metadata={source_file="program.cc" source_line=%d}
  z = f32[4] reshape(y)
  ROOT r = f32[4] add(z, x)
}
)",
      std::string(name), factor, line));
}

class PersistentCache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "compile-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    around_ = name;
    logger_ = spdlog::default_logger();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_)));
  }
  void TearDown() override {
    spdlog::set_default_logger(logger_);
    std::filesystem::remove_all(around_);
  }

  std::filesystem::path folder() const { return around_ / "compiled"; }
  CompileCache::Options Options() const {
    CompileCache::Options options;
    options.directory = folder().string();
    options.build = "hlod 1.0 build 11";
    return options;
  }
  std::vector<std::filesystem::path> Files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) files.push_back(entry.path());
    return files;
  }

  // Runs a daemon for one program and returns its counters, after checking that `program`(x) is `factor` + 1
  // times x. The daemon has ended when this returns.
  Counters Run(const std::string& program, float factor, const CompileCache::Options& options) {
    FakeClock clock;
    const std::unique_ptr<Devices> devices =
        MakeDevices(clock, {}, 64 << 20, 1, CompileCache::Open(options).value());
    TestSession session(*devices);
    session.Upload(1, {1, 2, 3, 4});
    EXPECT_TRUE(session.Await(session.Compile(2, program)).ok());
    EXPECT_TRUE(session.Await(session.Execute(session.ExecuteOf(2, {1}, {3}))).ok());
    const uint64_t read = session.Download(3);
    EXPECT_TRUE(session.Await(read).ok());
    const float times = factor + 1;
    EXPECT_THAT(session.Values(session.reads[read]), ElementsAre(times, 2 * times, 3 * times, 4 * times));
    return session.session_device->ledger().account().counters;
  }
  Counters Run(const std::string& program, float factor) { return Run(program, factor, Options()); }

  std::filesystem::path around_;
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> logger_;
};

// Acceptance row LT15.
TEST_F(PersistentCache, ASecondDaemonCompilesNothing) {
  const Counters first = Run(ScaleProgram(3), 3);
  EXPECT_EQ(first.compiles, 1);
  EXPECT_EQ(first.persistent_cache_hits, 0);
  EXPECT_THAT(Files(), SizeIs(1));
  const Counters second = Run(ScaleProgram(3), 3);
  EXPECT_EQ(second.compiles, 0);
  EXPECT_EQ(second.persistent_cache_hits, 1);
  EXPECT_EQ(second.compile_cache_hits, 0);
  // Another line and another name, but the same program.
  EXPECT_EQ(Run(ScaleProgram(3, 77, "renamed"), 3).compiles, 0);
  EXPECT_EQ(Run(ScaleProgram(4), 4).compiles, 1);
  EXPECT_EQ(log_.str(), "");
}

TEST_F(PersistentCache, WhatIsLoadedAnswersAsWhatIsCompiled) {
  FakeClock clock;
  // Compiled first, then loaded: checks which results of an abstract execute have values, and the name of an
  // argument.
  for (const bool loaded : {false, true}) {
    const std::unique_ptr<Devices> devices =
        MakeDevices(clock, {}, 64 << 20, 1, CompileCache::Open(Options()).value());
    TestSession session(*devices);
    session.Upload(1, {1, 2, 3, 4});
    session.Placeholder(2);
    EXPECT_TRUE(session.Await(session.Compile(3, SeparateProgram())).ok());
    EXPECT_EQ(session.session_device->ledger().account().counters.persistent_cache_hits, loaded ? 1 : 0);
    ExecuteRequest abstract = session.ExecuteOf(3, {1, 2}, {4, 5});
    abstract.abstract = true;
    EXPECT_TRUE(session.Await(session.Execute(std::move(abstract))).ok());
    const uint64_t read = session.Download(4), refused = session.Download(5);
    EXPECT_TRUE(session.Await(read).ok());
    EXPECT_THAT(session.Values(session.reads[read]), ElementsAre(2, 4, 6, 8));
    EXPECT_EQ(KindOf(session.Await(refused)), ErrorKind::kPlaceholder);
    const absl::Status placeholder = session.Await(session.Execute(session.ExecuteOf(3, {1, 2}, {6, 7})));
    EXPECT_THAT(ErrorOf(placeholder).text, HasSubstr("Argument 1 (parameter 1 \"b\") of \"separate\""));
  }
}

// Acceptance row LT15.
TEST_F(PersistentCache, ADamagedFileIsAWarningAndACompile) {
  Run(ScaleProgram(3), 3);
  const std::filesystem::path file = Files().at(0);
  const std::string good = ReadFile(file.string()).value();
  const auto changed = [&good](size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
  };
  const std::vector<std::string> damaged = {good.substr(0, good.size() / 2),
                                            good.substr(0, good.size() - 1),
                                            good.substr(0, 7),
                                            "",
                                            good + "x",
                                            changed(0),
                                            changed(9),
                                            changed(17),
                                            changed(30),
                                            changed(60),
                                            changed(good.size() - 1)};
  for (size_t i = 0; i < damaged.size(); ++i) {
    ASSERT_TRUE(WriteFile(file.string(), damaged[i]).ok());
    log_.str("");
    EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 1) << i;
    EXPECT_THAT(log_.str(), HasSubstr("cannot be used")) << i;
    EXPECT_THAT(log_.str(), HasSubstr(file.filename().string())) << i;
    // The compile has replaced the file.
    EXPECT_EQ(ReadFile(file.string()).value(), good) << i;
    EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 0) << i;
  }
}

// A complete file with a correct checksum, stored under another program's name.
TEST_F(PersistentCache, AFileUnderAnotherNameIsNotThatProgram) {
  Run(ScaleProgram(3), 3);
  const std::filesystem::path of_three = Files().at(0), aside = around_ / "aside";
  std::filesystem::rename(of_three, aside);
  Run(ScaleProgram(4), 4);
  const std::filesystem::path of_four = Files().at(0);
  std::filesystem::rename(aside, of_four);
  EXPECT_EQ(Run(ScaleProgram(4), 4).compiles, 1);
  EXPECT_THAT(log_.str(), HasSubstr("it holds another program"));
}

// A complete file whose module cannot be planned.
TEST_F(PersistentCache, AModuleThatCannotBePlannedIsCompiledAgain) {
  const CompileCache::Options options = Options();
  {
    const std::unique_ptr<CompileCache> cache = CompileCache::Open(options).value();
    cache->Store(cache->KeyOf(hlo::codec::StripMetadata(ScaleProgram(3))->module), "not a module");
  }
  EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 1);
  EXPECT_THAT(log_.str(), HasSubstr("cannot be used"));
  EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 0);
}

// A complete file whose module takes more memory than there is; the program itself takes little.
TEST_F(PersistentCache, WhatAnUnusableFileTookIsFreeForTheCompilation) {
  const std::shared_ptr<CompileCache> files = CompileCache::Open(Options()).value();
  std::string text = "HloModule long\nENTRY main {\n  v0 = f32[4] parameter(0)\n";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&text, "  v", i, " = f32[4] sine(v", i - 1, ")\n");
  const std::string file = ProgramOf(absl::StrCat(text, "  ROOT r = f32[4] negate(v999)\n}\n")),
                    program = ScaleProgram(3);
  files->Store(files->KeyOf(hlo::codec::StripMetadata(program)->module), file);
  const int64_t parsed =
      hlo::codec::CountWire(program)->memory_bytes + hlo::codec::CountWire(file)->memory_bytes;
  ExecutableCache cache({.persistent = files});
  // The three quarters that a user may have: both modules, and less than a compilation takes beside them.
  SideMemory memory((parsed + static_cast<int64_t>(program.size()) + 1000) / 3 * 4);
  absl::Notification compiled;
  cache.Compile(
      1, program,
      [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
        EXPECT_TRUE(c.ok() && !c->persistent) << c.status();
        compiled.Notify();
      },
      memory.ShareOf("user 1"));
  EXPECT_TRUE(compiled.WaitForNotificationWithTimeout(absl::Seconds(60)));
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  EXPECT_EQ(memory.used_bytes(), 0);
}

// Acceptance row LT15.
TEST_F(PersistentCache, AnotherBuildOrProcessorIsAMiss) {
  Run(ScaleProgram(3), 3);
  CompileCache::Options build = Options(), cpu = Options();
  build.build = "hlod 1.0 build 12";
  cpu.cpu = "another";
  EXPECT_EQ(Run(ScaleProgram(3), 3, build).compiles, 1);
  EXPECT_EQ(Run(ScaleProgram(3), 3, cpu).compiles, 1);
  EXPECT_THAT(Files(), SizeIs(3));
  for (const auto& options : {Options(), build, cpu}) {
    EXPECT_EQ(Run(ScaleProgram(3), 3, options).compiles, 0);
  }
  EXPECT_EQ(log_.str(), "");
}

// Acceptance row LT15.
TEST_F(PersistentCache, TwoWritersLeaveNoTornFile) {
  const CompileCache::Options options = Options();
  const std::string optimised(1 << 20, 'x');
  std::vector<std::thread> writers;
  std::atomic<bool> stop{false};
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&] {
      const std::unique_ptr<CompileCache> cache = CompileCache::Open(options).value();
      const CompileCache::Key key = cache->KeyOf("program");
      while (!stop) cache->Store(key, optimised);
    });
  }
  const std::unique_ptr<CompileCache> cache = CompileCache::Open(options).value();
  const CompileCache::Key key = cache->KeyOf("program");
  int found = 0;
  while (found < 50) {
    const std::optional<std::string> read = cache->Find(key);
    if (!read.has_value()) continue;  // The cache is read before the first file is written.
    ++found;
    ASSERT_EQ(*read, optimised);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(Files(), SizeIs(1)) << "unfinished files are left";
  EXPECT_EQ(log_.str(), "");
}

// Acceptance row LT15.
TEST_F(PersistentCache, TheLeastRecentlyUsedGoAtTheBound) {
  CompileCache::Options options = Options();
  options.bytes_max = 10 << 10;
  const std::unique_ptr<CompileCache> cache = CompileCache::Open(options).value();
  const auto key = [&](int i) { return cache->KeyOf(absl::StrCat("program ", i)); };
  const auto used_ago = [&](int i, std::chrono::minutes ago) {
    std::filesystem::last_write_time(folder() / key(i).file,
                                     std::filesystem::file_time_type::clock::now() - ago);
  };
  const std::string kilobytes(2 << 10, 'x');  // The key adds about 200 bytes.
  for (int i = 0; i < 4; ++i) {
    cache->Store(key(i), kilobytes);
    used_ago(i, std::chrono::minutes(10 - i));
  }
  EXPECT_TRUE(cache->Find(key(0)).has_value());  // Makes this file the most recently used one.
  cache->Store(key(4), kilobytes);               // This file makes the total exceed the bound.
  int64_t bytes = 0;
  for (const auto& file : Files()) bytes += static_cast<int64_t>(std::filesystem::file_size(file));
  EXPECT_LE(bytes, options.bytes_max);
  EXPECT_TRUE(cache->Find(key(0)).has_value());
  EXPECT_FALSE(cache->Find(key(1)).has_value());
  EXPECT_TRUE(cache->Find(key(3)).has_value());
  EXPECT_TRUE(cache->Find(key(4)).has_value());
  // A file larger than the total bound is not stored.
  cache->Store(key(5), std::string(11 << 10, 'x'));
  EXPECT_FALSE(cache->Find(key(5)).has_value());
  EXPECT_TRUE(cache->Find(key(4)).has_value());
}

TEST_F(PersistentCache, AFileThatWasBegunLongAgoIsRemovedAndForeignFilesStay) {
  CompileCache::Options options = Options();
  options.bytes_max = 4 << 10;
  const std::unique_ptr<CompileCache> cache = CompileCache::Open(options).value();
  const std::filesystem::path old = folder() / "17-0123.tmp", recent = folder() / "18-4567.tmp",
                              foreign = folder() / "README";
  for (const auto& file : {old, recent, foreign}) std::ofstream(file) << "x";
  std::filesystem::last_write_time(old,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  cache->Store(cache->KeyOf("a"), std::string(3 << 10, 'x'));
  cache->Store(cache->KeyOf("b"), std::string(3 << 10, 'x'));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(recent));
  EXPECT_TRUE(std::filesystem::exists(foreign));
}

TEST_F(PersistentCache, AFolderThatOthersMayEnterIsRefused) {
  std::filesystem::create_directory(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0750), 0);
  EXPECT_THAT(std::string(CompileCache::Open(Options()).status().message()), HasSubstr("mode 0750"));
  ASSERT_EQ(chmod(folder().c_str(), 0700), 0);
  EXPECT_TRUE(CompileCache::Open(Options()).ok());
  std::filesystem::remove(folder());
  std::ofstream(folder()) << "a file";
  EXPECT_FALSE(CompileCache::Open(Options()).ok());
}

TEST_F(PersistentCache, AFileOfAnotherUserOrThatOthersMayWriteIsNotUsed) {
  Run(ScaleProgram(3), 3);
  ASSERT_EQ(chmod(Files().at(0).c_str(), 0666), 0);
  EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 1);
  EXPECT_THAT(log_.str(), HasSubstr("mode 0666"));
  // A link to a file elsewhere, and a folder in the file's place.
  const std::filesystem::path file = Files().at(0);
  std::filesystem::rename(file, around_ / "elsewhere");
  std::filesystem::create_symlink(around_ / "elsewhere", file);
  EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 1);
  if (geteuid() != 0) return;  // Only root can change a file's owner.
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  log_.str("");
  EXPECT_EQ(Run(ScaleProgram(3), 3).compiles, 1);
  EXPECT_THAT(log_.str(), HasSubstr("it belongs to user 12345"));
}

TEST_F(PersistentCache, AFolderThatIsFullOrGoneCostsACompileAndOneWarning) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices =
      MakeDevices(clock, {}, 64 << 20, 1, CompileCache::Open(Options()).value());
  std::filesystem::remove_all(folder());
  {
    TestSession session(*devices);
    EXPECT_TRUE(session.Await(session.Compile(1, ScaleProgram(3))).ok());
    EXPECT_TRUE(session.Await(session.Compile(2, ScaleProgram(4))).ok());
  }
  devices->executables().Stop();
  const std::string log = log_.str(), words = "cannot be kept";
  EXPECT_NE(log.find(words), std::string::npos);
  EXPECT_EQ(log.find(words), log.rfind(words));
}

// Another daemon with other limits stored the file.
TEST_F(PersistentCache, ALimitHoldsForWhatIsInTheCacheToo) {
  Run(ScaleProgram(3), 3);
  FakeClock clock;
  Limits limits;
  limits.instructions_max = 3;
  const std::unique_ptr<Devices> devices =
      MakeDevices(clock, limits, 64 << 20, 1, CompileCache::Open(Options()).value());
  TestSession session(*devices);
  EXPECT_EQ(KindOf(session.Await(session.Compile(1, ScaleProgram(3)))), ErrorKind::kLimit);
}

}  // namespace
}  // namespace hlod::device
