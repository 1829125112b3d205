// The ledger's figures as messages.
#pragma once

#include "common/base/error.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/ledger.h"

namespace hlod::session {

void FillAccount(const device::Account& account, v1::SessionStats* stats);
// `session` 0: of several sessions together.
void FillRow(const device::Row& row, const Origin& origin, uint64_t session, v1::LedgerRow* proto);

}  // namespace hlod::session
