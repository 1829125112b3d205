// Converts the account's messages to the public structures.
#include "hlod/observe/account.h"

#include <algorithm>

#include "client/runtime/handles/admin_connection.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"
#include "common/rpc/wire.h"

namespace hlod {
namespace runtime {

std::string HexDigest(std::string_view bytes) {
  if (bytes.empty()) return "";
  Digest digest = {};
  std::copy_n(bytes.begin(), std::min(bytes.size(), digest.size()), digest.begin());
  return ToHex(digest);
}

namespace {

TransferRow TransferFromProto(const v1::LedgerRow& proto) {
  TransferRow row;
  row.cause = CauseFromNumber(proto.cause()).value_or(Cause::kUpload);
  row.origin = rpc::FromProto(proto.origin());
  row.step = proto.step();
  row.amount = {proto.amount().bytes(), proto.amount().calls()};
  row.session = proto.session();
  row.device = static_cast<int>(proto.device());
  row.name = proto.origin().name();
  row.other_steps = proto.other_steps();
  row.other_lines = proto.other_lines();
  return row;
}

Distribution SpreadFromProto(const v1::Distribution& proto) {
  return {proto.min_us(), proto.max_us(), proto.sum_us()};
}

RunRow RunFromProto(const v1::RunRow& proto) {
  RunRow row;
  row.digest = HexDigest(proto.digest());
  row.program = proto.program();
  row.origin = rpc::FromProto(proto.origin());
  row.step = proto.step();
  row.device = static_cast<int>(proto.device());
  row.count = proto.count();
  row.queue = SpreadFromProto(proto.queue());
  row.run = SpreadFromProto(proto.run());
  row.peak_bytes = proto.peak_bytes();
  row.network_us = proto.network_us();
  row.network_bytes = proto.network_bytes();
  row.session = proto.session();
  row.other_steps = proto.other_steps();
  row.other_programs = proto.other_programs();
  return row;
}

CompileRow CompileFromProto(const v1::CompileRow& proto) {
  CompileRow row;
  row.digest = HexDigest(proto.digest());
  row.program = proto.program();
  row.origin = rpc::FromProto(proto.origin());
  row.step = proto.step();
  row.reason = CompileReasonFromNumber(proto.reason());
  row.why = proto.reason_text();
  row.outcome = proto.outcome() == 1   ? CompileOutcome::kCached
                : proto.outcome() == 2 ? CompileOutcome::kPersistent
                                       : CompileOutcome::kCompiled;
  row.at_us = proto.at_us();
  row.compile_us = proto.compile_us();
  row.instructions = proto.instructions();
  row.program_bytes = proto.program_bytes();
  row.code_bytes = proto.code_bytes();
  row.argument_bytes = proto.argument_bytes();
  row.output_bytes = proto.output_bytes();
  row.alias_bytes = proto.alias_bytes();
  row.temporary_bytes = proto.temporary_bytes();
  row.count = proto.count();
  row.others = proto.others();
  row.session = proto.session();
  row.slow_steps.assign(proto.slow_steps().begin(), proto.slow_steps().end());
  return row;
}

template <typename Row, typename Proto, typename List>
AccountRows<Row> RowsOf(const List& list, Row (*from_proto)(const Proto&)) {
  AccountRows<Row> rows;
  rows.total = list.total();
  for (const Proto& row : list.rows()) rows.rows.push_back(from_proto(row));
  return rows;
}

}  // namespace
}  // namespace runtime

std::string_view Name(CompileOutcome outcome) {
  switch (outcome) {
    case CompileOutcome::kCompiled: return "compiled";
    case CompileOutcome::kCached: return "cached";
    case CompileOutcome::kPersistent: return "persistent";
  }
  return "invalid";
}

absl::StatusOr<SessionAccount> GetAccount(const Client& client, Caller caller) {
  runtime::Session& session = *client.internal_session();
  v1::Command command;
  command.mutable_stats();
  ASSIGN_OR_RETURN(const runtime::Command sent, session.Send(caller, std::move(command)));
  RETURN_IF_ERROR(session.Wait(*sent));
  const v1::SessionStats& stats = sent->reply.stats();
  SessionAccount account;
  account.stats = runtime::StatsFromProto(stats);
  account.stats.refused_before_sending = session.refused_before_sending;
  for (const v1::LedgerRow& row : stats.rows()) account.transfers.push_back(runtime::TransferFromProto(row));
  for (const v1::RunRow& row : stats.runs()) account.runs.push_back(runtime::RunFromProto(row));
  for (const v1::CompileRow& row : stats.compiled())
    account.compiles.push_back(runtime::CompileFromProto(row));
  const v1::RunSamples& samples = stats.run_samples();
  const int count = std::min({samples.at_us_size(), samples.queue_us_size(), samples.run_us_size()});
  for (int i = 0; i < count; ++i)
    account.samples.push_back({samples.at_us(i), samples.queue_us(i), samples.run_us(i)});
  return account;
}

struct AccountAdmin::Connection : runtime::AdminConnection {};

absl::StatusOr<AccountAdmin> AccountAdmin::Connect(const ConnectOptions& options) {
  auto connection = std::make_shared<Connection>();
  RETURN_IF_ERROR(connection->Open(options));
  return AccountAdmin(std::move(connection));
}

absl::StatusOr<AccountRows<TransferRow>> AccountAdmin::Transfers(uint64_t session, int limit) const {
  ASSIGN_OR_RETURN(const v1::TransferList list,
                   connection_->Call(&v1::Admin::Stub::ListTransfers, session, limit, /*fold=*/true));
  return runtime::RowsOf(list, runtime::TransferFromProto);
}

absl::StatusOr<AccountRows<RunRow>> AccountAdmin::Runs(uint64_t session, int limit) const {
  ASSIGN_OR_RETURN(const v1::RunList list,
                   connection_->Call(&v1::Admin::Stub::ListRuns, session, limit, /*fold=*/true));
  return runtime::RowsOf(list, runtime::RunFromProto);
}

absl::StatusOr<AccountRows<CompileRow>> AccountAdmin::Compiles(uint64_t session, int limit) const {
  ASSIGN_OR_RETURN(const v1::CompileList list,
                   connection_->Call(&v1::Admin::Stub::ListCompiles, session, limit, /*fold=*/true));
  return runtime::RowsOf(list, runtime::CompileFromProto);
}

}  // namespace hlod
