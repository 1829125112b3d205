// The table of figures (common/base/stats.inc) against the protocol: each figure that hlod.v1 names is a row,
// and so reaches the public structures, profiles, --json and `hloctl help json` with its value.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "client/cli/options/command_line.h"
#include "client/cli/print/json.h"
#include "client/runtime/observe/profile_json.h"
#include "client/runtime/observe/profile_writer.h"
#include "client/runtime/session/state.h"
#include "hlod/observe/profile.h"
#include "proto/hlod/v1/admin.pb.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

bool IsAmount(const FieldDescriptor& field) {
  return field.message_type() != nullptr && field.message_type()->full_name() == "hlod.v1.Amount";
}

// Returns the names of the message's int64 and Amount fields, without `others`, which are no figures.
std::set<std::string> FiguresOf(const Descriptor& message, const std::set<std::string>& others) {
  std::set<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const bool figure = field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 || IsAmount(field);
    if (figure && !field.is_repeated() && !others.contains(field.name())) names.insert(field.name());
  }
  return names;
}

std::set<std::string> FiguresOfSession() {
  return FiguresOf(*v1::SessionStats::descriptor(), {"uptime_us"});  // That is the daemon's clock.
}

// Returns stats whose figures are 100 times their field's number, and the calls of an amount one more.
v1::SessionStats Numbered() {
  v1::SessionStats stats;
  for (const std::string& name : FiguresOfSession()) {
    const FieldDescriptor* const field = stats.GetDescriptor()->FindFieldByName(name);
    const int64_t number = 100 * field->number();
    if (!IsAmount(*field)) {
      stats.GetReflection()->SetInt64(&stats, field, number);
      continue;
    }
    auto& amount = static_cast<v1::Amount&>(*stats.GetReflection()->MutableMessage(&stats, field));
    amount.set_bytes(number);
    amount.set_calls(number + 1);
  }
  return stats;
}

void ExpectNumbered(const nlohmann::ordered_json& json) {
  for (const std::string& name : FiguresOfSession()) {
    const FieldDescriptor* const field = v1::SessionStats::descriptor()->FindFieldByName(name);
    const int64_t number = 100 * field->number();
    ASSERT_TRUE(json.contains(name)) << name << " is not in " << json;
    if (IsAmount(*field))
      EXPECT_EQ(json[name], (nlohmann::json{{"bytes", number}, {"calls", number + 1}})) << name;
    else EXPECT_EQ(json[name], number) << name;
  }
  EXPECT_EQ(json.size(), FiguresOfSession().size()) << json;
}

std::set<std::string> KeysOf(const cli::Json& json) {
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  return keys;
}

TEST(Figures, OfASessionReachJsonAndProfilesWithTheirValues) {
  EXPECT_EQ(FiguresOfSession().size(), 23u);
  const SessionStats stats = runtime::StatsFromProto(Numbered());
  ExpectNumbered(cli::ToJson(stats));
  ProfileAccount account;
  account.account.stats = stats;
  ExpectNumbered(nlohmann::ordered_json::parse(runtime::RunAccountLine(account))["stats"]);
}

TEST(Figures, OfTheDaemonAndOfADeviceAreInJson) {
  std::set<std::string> daemon = FiguresOf(*v1::DaemonStats::descriptor(), {});
  daemon.insert({"version", "epoch", "totals"});
  EXPECT_EQ(KeysOf(cli::ToJson(DaemonStats())), daemon);
  std::set<std::string> device = FiguresOf(*v1::Device::descriptor(), {});
  device.insert({"ordinal", "kind", "cpu_features"});
  EXPECT_EQ(KeysOf(cli::ToJson(DeviceRow())), device);
}

TEST(Figures, AreInTheHelpOfJson) {
  const std::string help = cli::JsonKeys();
  std::set<std::string> names = FiguresOfSession();
  names.merge(FiguresOf(*v1::DaemonStats::descriptor(), {}));
  names.merge(FiguresOf(*v1::Device::descriptor(), {}));
  for (const std::string& name : names) EXPECT_NE(help.find(" " + name), std::string::npos) << name;
  EXPECT_NE(help.find("\n  session part host_to_device (amount) "), std::string::npos) << help;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

// The counts since an earlier account are differences; the memory is what the session holds now.
TEST(Figures, ThatCountAreSubtractedAndThoseOfMemoryAreNot) {
  SessionAccount earlier, later;
  earlier.stats = later.stats = runtime::StatsFromProto(Numbered());
  earlier.stats.refused_before_sending = 3;
  later.stats.refused_before_sending = 5;
  const std::set<std::string> memory = {"live_bytes",   "peak_bytes",           "live_buffers",
                                        "placeholders", "simulated_live_bytes", "simulated_peak_bytes"};
  const SessionStats since = runtime::AccountSince(earlier, later).stats;
  EXPECT_EQ(since.refused_before_sending, 2);
  const cli::Json json = cli::ToJson(since);
  for (const std::string& name : FiguresOfSession()) {
    const FieldDescriptor* const field = v1::SessionStats::descriptor()->FindFieldByName(name);
    if (memory.contains(name)) EXPECT_EQ(json[name], 100 * field->number()) << name;
    else if (IsAmount(*field)) EXPECT_EQ(json[name], (nlohmann::json{{"bytes", 0}, {"calls", 0}})) << name;
    else EXPECT_EQ(json[name], 0) << name;
  }
}

}  // namespace
}  // namespace hlod
