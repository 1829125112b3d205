// hloctl doctor: says what is missing or wrong on this machine, and what to do.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/commands.h"
#include "client/cli/doctor/finding.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"

namespace hlod::cli {
namespace {

constexpr char kPrivate[] = "private";

// Returns how the messages of a client come to the daemon, for those whom the daemon tells; otherwise empty.
std::string WayOf(const Client& client, const ConnectOptions& options) {
  const absl::StatusOr<Admin> admin = Admin::Connect(options);
  if (!admin.ok()) return "";
  const absl::StatusOr<std::vector<SessionRow>> sessions = admin->Sessions();
  if (!sessions.ok()) return "";
  for (const SessionRow& row : *sessions) {
    if (row.session != client.session_id()) continue;
    if (row.messages == "ring") return ", messages through shared memory";
    if (row.messages == "stream") return ", messages through the socket";
  }
  return "";
}

// Connects, and describes the daemon: its version, address and round trip.
absl::StatusOr<std::string> Describe(const ConnectOptions& options) {
  ASSIGN_OR_RETURN(const Client client, Client::Connect(options));
  const ClosedAtEnd close(client);
  absl::Duration least = absl::InfiniteDuration();
  // A client takes the ring that it is offered after its first messages.
  for (int i = 0; i < 40; ++i) {
    ASSIGN_OR_RETURN(const absl::Duration round_trip, client.Ping());
    least = std::min(least, round_trip);
  }
  const std::string place = options.address == kPrivate ? "" : " at " + client.address();
  return absl::StrCat(client.daemon(), place, ", round trip ", absl::ToInt64Microseconds(least), " us",
                      options.address == kPrivate ? "" : WayOf(client, options));
}

// Returns the finding about the daemon that programs of this user find.
Finding ExamineDaemon(const CommonOptions& common) {
  ConnectOptions options = common.connect;
  options.private_daemon = false;
  const absl::StatusOr<std::string> found = Describe(options);
  if (found.ok()) return {.what = "daemon", .found = *found};
  const std::string text(FromAbsl(found.status().message()));
  options.private_daemon = true;
  if (Describe(options).ok()) return {Grade::kNote, "daemon", text, "Each program starts a private daemon."};
  return {Grade::kWrong, "daemon", text,
          "Give another address (--address, HLOD_ADDRESS), or start a daemon there."};
}

// Returns the finding about the daemon that a program starts for itself when none is running.
Finding ExaminePrivateDaemon() {
  ConnectOptions options;
  options.address = kPrivate;
  const absl::StatusOr<std::string> found = Describe(options);
  if (found.ok()) return {.what = "private daemon", .found = *found};
  return {Grade::kWrong, "private daemon", std::string(FromAbsl(found.status().message())),
          "Install hlod, or set HLOD_DAEMON to its program."};
}

const char* NameOf(Grade grade) {
  switch (grade) {
    case Grade::kGood: return "good";
    case Grade::kNote: return "note";
    case Grade::kWrong: return "wrong";
  }
  return "";
}

void Print(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    absl::StrAppend(&text, absl::StrFormat("%-5s  ", NameOf(finding.grade)), finding.what, ": ",
                    finding.found, "\n");
    if (!finding.advice.empty()) absl::StrAppend(&text, "         ", finding.advice, "\n");
  }
  Show(text);
}

Json FindingsToJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"grade", NameOf(finding.grade)},
                    {"what", finding.what},
                    {"found", finding.found},
                    {"advice", finding.advice}});
  }
  return {{"findings", std::move(list)}};
}

}  // namespace

absl::StatusOr<CheckOutcome> Examine(const CommonOptions& common) {
  std::vector<Finding> findings = {ExamineDaemon(common), ExaminePrivateDaemon()};
  for (Finding& finding : ExamineMachine()) findings.push_back(std::move(finding));
  findings.push_back(ExaminePartitioner());
  if (common.json) Show(Dump(FindingsToJson(findings)) + "\n");
  else Print(findings);
  bool good = true;
  for (const Finding& finding : findings) good = good && finding.grade != Grade::kWrong;
  return good ? CheckOutcome::kPassed : CheckOutcome::kFailed;
}

}  // namespace hlod::cli
