// The fields of events and accounts in profiles, by name. A visitor is called with each name and field: it
// writes the fields of a constant object, and fills those of another. An event with a field that is not
// listed here does not compile.
#pragma once

#include "common/base/fields.h"
#include "hlod/observe/account.h"
#include "hlod/observe/events.h"
#include "hlod/tensor/trace.h"

namespace hlod::runtime {

HLOD_NAMED_FIELDS(Origin, file, line, function)
HLOD_NAMED_FIELDS(EventValue, value, buffer, shape, bytes, close, origin)
HLOD_NAMED_FIELDS_AFTER(EventValue, CloseEvent::Input, donated, number, recorded_as)
HLOD_NAMED_FIELDS_AFTER(EventValue, CloseEvent::Output, alive)
HLOD_NAMED_FIELDS(CloseEvent, close, cause, operation, origin, forced, session, step, device, nodes, inputs,
                  outputs, found, program, name, command, trace_us, lower_us, compile_us, send_us, status)
HLOD_NAMED_FIELDS(CompileEvent, session, step, origin, program, name, instructions, bytes, reason, why,
                  nearest)
HLOD_NAMED_FIELDS(ForceEvent, cause, operation, origin, value, close)
HLOD_NAMED_FIELDS(TransferEvent, cause, origin, name, session, step, device, value, us)
HLOD_NAMED_FIELDS(WaitEvent, cause, origin, session, step, value, us)
HLOD_NAMED_FIELDS(HostFunctionEvent, name, origin, inputs, outputs, us)
HLOD_NAMED_FIELDS(ValueFreedEvent, value, how)
HLOD_NAMED_FIELDS(SlowEvent, path, operation, origin, us)
HLOD_NAMED_FIELDS(StepEvent, session, step, origin)

HLOD_NAMED_FIELDS(Amount, bytes, calls)
HLOD_NAMED_FIELDS(Distribution, min_us, max_us, sum_us)
HLOD_NAMED_FIELDS(LedgerRow, cause, origin, step, amount, session, device)
HLOD_NAMED_FIELDS_AFTER(LedgerRow, TransferRow, name, other_steps, other_lines)
HLOD_NAMED_FIELDS(RunRow, digest, program, origin, step, device, count, queue, run, peak_bytes, network_us,
                  network_bytes, session, other_steps, other_programs)
HLOD_NAMED_FIELDS(CompileRow, digest, program, origin, step, reason, why, outcome, at_us, compile_us,
                  instructions, program_bytes, code_bytes, argument_bytes, output_bytes, alias_bytes,
                  temporary_bytes, count, others, session, slow_steps)
HLOD_NAMED_FIELDS(RunSample, at_us, queue_us, run_us)

// Leaves the rows out, because a profile has them in its account, with more fields.
template <typename V, MaybeConst<SessionStats> E>
void Fields(V& visitor, E& stats) {
#define HLOD_SESSION_AMOUNT(name, direction, meaning) visitor(#name, stats.name);
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) visitor(#name, stats.name);
#define HLOD_SESSION_CLIENT_COUNTER(name, unit, meaning) visitor(#name, stats.name);
#define HLOD_SESSION_MEMORY(name, unit, meaning) visitor(#name, stats.name);
#include "common/base/stats.inc"
}
HLOD_NAMED_FIELDS(SessionAccount, stats, transfers, runs, compiles, samples)

}  // namespace hlod::runtime
