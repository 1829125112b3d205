// Each limit at the ends of its range: a client works as usual, or gets an error that names the limit; no
// call hangs, and the session goes on.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>

#include "common/base/limits.h"
#include "tests/integration/support/harness.h"
#include "tests/support/shell.h"

namespace hlod {
namespace {

struct Corner {
  std::string name;                 // The name of the test.
  std::vector<std::string> limits;  // The limits to set.
  std::vector<std::string> values;  // The limits' values: "least", "most", or as typed.
};

std::string FlagOf(std::string limit) {
  std::replace(limit.begin(), limit.end(), '_', '-');
  return "--" + limit;
}

// Returns the range of a limit from the daemon's message: "--inline-bytes-max: 9223372036854775807 is not
// within 0 and 48MiB."
std::pair<std::string, std::string> RangeOf(const std::string& limit) {
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../bin/hlod").string();
  const std::string text = RunShell(program + " " + FlagOf(limit) + " 9223372036854775807 2>&1").text;
  const std::string_view kWithin = " is not within ", kAnd = " and ";
  const size_t least = text.find(kWithin), most = text.rfind(kAnd), end = text.rfind('.');
  if (least == text.npos || most == text.npos || end == text.npos) {
    ADD_FAILURE() << text;
    return {};
  }
  return {text.substr(least + kWithin.size(), most - least - kWithin.size()),
          text.substr(most + kAnd.size(), end - most - kAnd.size())};
}

Literal Compiled() { return Counting(768 << 10); }  // 3 MiB.

absl::Status Same(const Literal& got, const Literal& wanted) {
  return got == wanted ? absl::OkStatus() : absl::DataLossError("The value that came back is another.");
}

absl::Status Upload(const Client& client) {
  const Literal value = Counting(2 << 20);
  ASSIGN_OR_RETURN(const Buffer buffer, client.device(0).Upload(value));
  ASSIGN_OR_RETURN(const Literal back, buffer.ToLiteral());
  return Same(back, value);
}

absl::Status UploadSmall(const Client& client) {
  const Literal value = Counting(4);
  ASSIGN_OR_RETURN(const Buffer buffer, client.device(0).Upload(value));
  ASSIGN_OR_RETURN(const Literal back, buffer.ToLiteral());
  return Same(back, value);
}

absl::Status Compile(const Client& client) {
  const Literal value = Compiled();
  Module module("constant");
  hlo::Builder b(module, "main");
  RETURN_IF_ERROR(b.Build(b.Constant(value)));
  ASSIGN_OR_RETURN(const Executable program, client.CompileSerialized(hlo::Serialize(module)));
  ASSIGN_OR_RETURN(const std::vector<Buffer> results, program.Execute({}));
  ASSIGN_OR_RETURN(const Literal back, results[0].ToLiteral());
  return Same(back, value);
}

absl::Status Execute(const Client& client) {
  ASSIGN_OR_RETURN(const Executable add, client.CompileText(AddProgram(4)));
  const Literal one = Counting(4);
  ASSIGN_OR_RETURN(const Buffer x, client.device(0).Upload(one));
  ASSIGN_OR_RETURN(const std::vector<Buffer> results, add.Execute({x, x}));
  ASSIGN_OR_RETURN(const Literal sum, results[0].ToLiteral());
  Literal wanted(one.shape());
  for (size_t i = 0; i < 4; ++i) wanted.data<float>()[i] = 2.0f * static_cast<float>(i);
  return Same(sum, wanted);
}

absl::Status Stage(const Client& client) {
  static const Literal value = Counting(14 << 20);
  ASSIGN_OR_RETURN(StagedUpload staged, client.device(0).Stage(value.shape()));
  std::copy(value.bytes().begin(), value.bytes().end(), staged.bytes().begin());
  ASSIGN_OR_RETURN(const Buffer buffer, staged.Commit());
  RETURN_IF_ERROR(buffer.ready().Await());
  ASSIGN_OR_RETURN(const Literal back, buffer.ToLiteral());
  return Same(back, value);
}

constexpr std::pair<const char*, absl::Status (*)(const Client&)> kBasics[] = {
    {"an upload of 8 MiB", Upload},
    {"a small upload", UploadSmall},
    {"a compile of 3 MiB", Compile},
    {"an execute", Execute},
    {"a stage of 56 MiB", Stage}};

void PrintTo(const Corner& corner, std::ostream* out) { *out << corner.name; }

class CornerOfLimits : public ::testing::TestWithParam<Corner> {};

TEST_P(CornerOfLimits, ClientsWorkOrAreToldWhichLimitTheyMeet) {
  const Corner& corner = GetParam();
  testing::DaemonOptions options;
  for (size_t i = 0; i < corner.limits.size(); ++i) {
    std::string value = corner.values[i];
    if (value == "least") value = RangeOf(corner.limits[i]).first;
    if (value == "most") value = RangeOf(corner.limits[i]).second;
    options.flags.push_back(FlagOf(corner.limits[i]));
    options.flags.push_back(value);
  }
  testing::Daemon daemon = Must(testing::Daemon::Start(options));
  const Client client = Must(daemon.Connect());
  for (const auto& [what, basic] : kBasics) {
    const absl::Status status = basic(client);
    const bool named = std::any_of(corner.limits.begin(), corner.limits.end(), [&](const std::string& limit) {
      return status.message().find(limit) != status.message().npos;
    });
    // Limits on time end in a deadline, or in an upload that stays pending.
    const ErrorKind kind = KindOf(status);
    const bool limited = named && (kind == ErrorKind::kLimit || kind == ErrorKind::kNoMemory ||
                                   kind == ErrorKind::kDeadline || kind == ErrorKind::kPending);
    EXPECT_TRUE(status.ok() || limited) << what << ": " << status;
    ASSERT_OK(client.status()) << " after " << what;
    EXPECT_OK(client.Ping().status()) << " after " << what;
  }
  EXPECT_TRUE(daemon.running());
}

std::vector<Corner> Corners() {
  // Large values of these limits change how clients send; large values of most others are only unused space.
  const std::string_view kMost[] = {"commands_in_flight_max", "commands_per_message_max", "inline_bytes_max",
                                    "chunk_bytes_max", "unacknowledged_bytes_max"};
  std::vector<Corner> corners;
  ForEachLimit([&](std::string_view limit, int64_t Limits::*, std::string_view) {
    const std::string name(limit);
    corners.push_back({name + "_least", {name}, {"least"}});
    if (std::find(std::begin(kMost), std::end(kMost), limit) != std::end(kMost))
      corners.push_back({name + "_most", {name}, {"most"}});
  });
  corners.push_back({"no_arena", {"arena_bytes"}, {"0"}});
  for (const char* const chunk : {"4KiB", "512KiB"}) {
    corners.push_back({std::string("few_commands_of_") + chunk,
                       {"commands_in_flight_max", "chunk_bytes_max"},
                       {"64", chunk}});
  }
  return corners;
}

INSTANTIATE_TEST_SUITE_P(Of, CornerOfLimits, ::testing::ValuesIn(Corners()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hlod
