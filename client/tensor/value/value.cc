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
    value->Leave();
    if (value->state() == State::kData && runtime::Observed()) EmitDeath(*value);
    ForgetRole(*value);
  }
  delete value;
}

std::shared_ptr<const Literal> Value::literal() const {
  const auto* const literal = std::get_if<std::shared_ptr<const Literal>>(&form_);
  return literal == nullptr ? nullptr : *literal;
}

const Buffer& Value::buffer() const {
  static const auto* const none = new Buffer;
  const Data* const data = std::get_if<Data>(&form_);
  return data == nullptr ? *none : data->buffer;
}

bool Value::IsAbstract() const {
  return IsPlaceholder() || (graph() != nullptr && graph()->kind == Trace::Kind::kAbstract);
}

void Value::Leave() {
  if (Trace* const trace = graph()) trace->RemoveLive(*this);
}

void Value::Become(std::shared_ptr<const Literal> value) {
  Leave();
  form_ = std::move(value);
}

void Value::Become(Recipe recipe) {
  Leave();
  form_ = std::move(recipe);
}

void Value::Become(File file) {
  Leave();
  form_ = std::move(file);
}

void Value::Become(Buffer value) {
  Leave();
  form_ = Data{std::move(value)};
}

void Value::Become(absl::Status why) {
  Leave();
  form_ = std::move(why);
}

void Value::BecomePlaceholder() {
  Leave();
  form_ = Placeholder{};
}

std::string ShapeText(const Value& value) { return hlo::ToStringNoLayout(value.shape()); }

std::string LineText(const Caller& caller) { return hlod::ToString(Origin{caller.file, caller.line, ""}); }

}  // namespace hlod::lazy
