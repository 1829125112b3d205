// Changes the state of a value, and destroys values.
#include "client/tensor/value/value.h"

#include <atomic>
#include <utility>

#include "client/tensor/autograd/tape.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/close_event.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/trace.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {

uint64_t NextId() {
  // A thread takes a block of ids at a time, so that assigning an id needs no atomic exchange.
  static constexpr uint64_t kBlock = 1024;
  static constinit std::atomic<uint64_t> taken = 0;
  static constinit thread_local uint64_t last = 0;
  if (last % kBlock == 0) last = taken.fetch_add(kBlock, std::memory_order_relaxed);
  return ++last;
}

Value::Value(hlo::PrimitiveType type, Dims dims, Place place, Caller origin)
    : type(type), place(place), dims(std::move(dims)), id(NextId()), origin(CallerScope::Of(origin)) {}

Value::~Value() = default;

void Value::Destroy(Value* value) {
  {
    // The lock is needed even if the value is not a node, because the thread that closes its trace may be
    // changing its state.
    const TraceLock lock;
    if (value->state == State::kNode) value->graph->RemoveLive(*value);
    else if (value->state == State::kData && runtime::Observed()) EmitDeath(*value);
    ForgetRole(*value);
  }
  delete value;
}

void Value::Leave() {
  if (state == State::kNode) graph->RemoveLive(*this);
  literal.reset();
  recipe = nullptr;
  load = nullptr;
  buffer = Buffer();
}

void Value::Become(std::shared_ptr<const Literal> value) {
  Leave();
  literal = std::move(value);
  state = State::kHost;
}

void Value::Become(Buffer value) {
  Leave();
  buffer = std::move(value);
  may_be_placeholder = true;
  state = State::kData;
}

void Value::Become(absl::Status why) {
  Leave();
  failure = std::move(why);
  state = State::kFailed;
}

std::string ShapeText(const Value& value) { return hlo::ToStringNoLayout(value.shape()); }

std::string LineText(const Caller& caller) { return hlod::ToString(Origin{caller.file, caller.line, ""}); }

}  // namespace hlod::lazy
