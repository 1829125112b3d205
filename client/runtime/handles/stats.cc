// Converts the ledger's messages to the public structures.
#include "client/runtime/session/state.h"
#include "common/base/fields.h"
#include "common/rpc/wire.h"

namespace hlod::runtime {
namespace {

Amount AmountFromProto(const v1::Amount& proto) { return {proto.bytes(), proto.calls()}; }

}  // namespace

// SessionStats has a field per row of the table, and `rows`.
static_assert(CountFields<SessionStats>() == 1
#define HLOD_SESSION_AMOUNT(name, direction, meaning) +1
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) +1
#define HLOD_SESSION_CLIENT_COUNTER(name, unit, meaning) +1
#define HLOD_SESSION_MEMORY(name, unit, meaning) +1
#include "common/base/stats.inc"
              , "A figure of SessionStats is not in common/base/stats.inc.");

SessionStats StatsFromProto(const v1::SessionStats& proto) {
  SessionStats stats;
  for (const v1::LedgerRow& row : proto.rows()) {
    stats.rows.push_back({CauseFromNumber(row.cause()).value_or(Cause::kUpload), rpc::FromProto(row.origin()),
                          row.step(), AmountFromProto(row.amount()), row.session(),
                          static_cast<int>(row.device())});
  }
#define HLOD_SESSION_AMOUNT(name, direction, meaning) stats.name = AmountFromProto(proto.name());
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) stats.name = proto.name();
#define HLOD_SESSION_MEMORY(name, unit, meaning) stats.name = proto.name();
#include "common/base/stats.inc"
  return stats;
}

void Add(const SessionStats& from, SessionStats& to) {
  to.rows.insert(to.rows.end(), from.rows.begin(), from.rows.end());
#define HLOD_SESSION_AMOUNT(name, direction, meaning) \
  to.name.bytes += from.name.bytes;                   \
  to.name.calls += from.name.calls;
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) to.name += from.name;
#define HLOD_SESSION_CLIENT_COUNTER(name, unit, meaning) to.name += from.name;
#define HLOD_SESSION_MEMORY(name, unit, meaning) to.name += from.name;
#include "common/base/stats.inc"
}

}  // namespace hlod::runtime
