// Converts the ledger's figures to messages.
#pragma once

#include <functional>

#include "common/base/errors/error.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/ledger/ledger.h"
#include "server/device/session_device.h"

namespace hlod::session {

void FillAccount(const device::Account& account, v1::SessionStats* stats);
// Returns a line of a session's program, with the name of the tensor there.
using Lines = std::function<v1::Origin(uint32_t id)>;
// `session` is 0 for a sum over several sessions.
void FillRow(const device::Row& row, const v1::Origin& line, uint64_t session, v1::LedgerRow* proto);
void FillRow(const device::RunRow& row, const v1::Origin& line, uint64_t session, v1::RunRow* proto);
void FillRow(const device::CompileRow& row, const v1::Origin& line, uint64_t session, v1::CompileRow* proto);
// Returns a line of the session device.
v1::Origin LineOf(const device::SessionDevice& session_device, uint32_t id);

}  // namespace hlod::session
