// Builds the frames of calls.
#include "client/pjrt/ffi/call.h"

#include <atomic>
#include <optional>
#include <utility>

#include "client/pjrt/exceptions.h"
#include "client/pjrt/ffi/errors.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt::ffi {
namespace {

// Arrays as a frame describes them. Points into itself.
class Arrays {
 public:
  Arrays(const std::vector<hlo::Shape>& shapes, const std::vector<void*>& data) : buffers_(shapes.size()) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      Buffer& buffer = buffers_[i];
      buffer = {};
      buffer.struct_size = sizeof(buffer);
      buffer.dtype = static_cast<int>(shapes[i].type);
      buffer.data = i < data.size() ? data[i] : nullptr;
      buffer.rank = static_cast<int64_t>(shapes[i].dims.size());
      dims_.emplace_back(shapes[i].dims.begin(), shapes[i].dims.end());
      types_.push_back(kBufferValue);
      values_.push_back(&buffer);
    }
    for (size_t i = 0; i < shapes.size(); ++i) buffers_[i].dims = dims_[i].data();
  }
  Values values() {
    Values values = {};
    values.struct_size = sizeof(values);
    values.size = static_cast<int64_t>(values_.size());
    values.types = types_.data();
    values.values = values_.data();
    return values;
  }

 private:
  std::vector<Buffer> buffers_;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<int> types_;
  std::vector<void*> values_;
};

// The versions of XLA's interfaces, as calls state them.
constexpr int kOriginal = 1, kStatusReturning = 2, kUnified = 3, kTyped = 4;

// The layout of XlaCustomCallStatus_. A function sets it by XLA's own code, which is linked into the
// function's library.
struct UntypedStatus {
  std::optional<std::string> message;
};
using OriginalFunction = void(void* out, const void** in);
using StatusReturningFunction = void(void* out, const void** in, UntypedStatus* status);
using UnifiedFunction = void(void* out, const void** in, const char* text, size_t size,
                             UntypedStatus* status);

}  // namespace

bool Serves(const Target& target, int version) {
  return target.untyped == nullptr ? version == kTyped : version >= kOriginal && version <= kUnified;
}

Context::~Context() {
  for (const auto& [stage, kept] : states_) {
    if (void (*const deleter)(void*) = DeleterOf(kept.type); deleter != nullptr && kept.state != nullptr)
      deleter(kept.state);
  }
}

absl::StatusOr<void*> Context::Data(int64_t type) const {
  const auto found = user_data_.find(type);
  if (found != user_data_.end()) return found->second;
  return NotFound("The execution has no data of type %d.", type);
}

absl::Status Context::SetState(Stage stage, int64_t type, void* state) {
  if (!states_.try_emplace(stage, Kept{type, state}).second)
    return FailedPrecondition("The state of stage %d was set before.", static_cast<int>(stage));
  return absl::OkStatus();
}

absl::StatusOr<void*> Context::State(Stage stage, int64_t type) const {
  const auto found = states_.find(stage);
  if (found == states_.end() && borrowed_ != nullptr) return borrowed_->State(stage, type);
  if (found == states_.end()) return NotFound("Stage %d has no state.", static_cast<int>(stage));
  if (found->second.type != type)
    return InvalidArgument("The state of stage %d is of type %d, not %d.", static_cast<int>(stage),
                           found->second.type, type);
  return found->second.state;
}

absl::StatusOr<std::shared_ptr<const Call>> Call::Make(std::string name, const Target& target,
                                                       int version, std::string_view attributes,
                                                       std::vector<hlo::Shape> operands,
                                                       std::vector<hlo::Shape> results) {
  std::shared_ptr<Call> call(new Call);
  call->name_ = std::move(name);
  call->target_ = target;
  call->version_ = version;
  call->operands_ = std::move(operands);
  call->results_ = std::move(results);
  if (target.untyped != nullptr) {
    call->text_ = std::string(attributes);
    attributes = {};
  }
  ASSIGN_OR_RETURN(call->attributes_, CallAttributes::Read(attributes));
  call->program_ = std::make_unique<Context>(UserData(), /*device=*/0, /*run_id=*/0);
  RETURN_IF_ERROR(call->RunStage(target.handlers.instantiate, Stage::kInstantiate, {}, {}, *call->program_));
  return call;
}

int Call::AliasOf(size_t result) const {
  const std::vector<int64_t>& aliases = attributes_->aliases();
  for (size_t i = 0; i + 1 < aliases.size(); i += 2) {
    const int64_t operand = aliases[i + 1];
    if (aliases[i] != static_cast<int64_t>(result) || operand < 0 ||
        operand >= static_cast<int64_t>(operands_.size()))
      continue;
    // The function writes the result into the operand's memory. StableHLO's verifier requires equal types,
    // but HLO, and a backend_config that has the pairs itself, may say anything.
    const auto index = static_cast<size_t>(operand);
    if (hlo::ByteSize(operands_[index]) == hlo::ByteSize(results_[result])) return static_cast<int>(operand);
  }
  return -1;
}

absl::Status Call::RunStage(Handler* handler, Stage stage, const std::vector<void*>& operands,
                            const std::vector<void*>& results, Context& context) const {
  if (handler == nullptr) return absl::OkStatus();
  // Only a call that executes has arrays.
  const bool runs = stage == Stage::kExecute || stage == Stage::kInitialize || stage == Stage::kPrepare;
  Arrays arguments(runs ? operands_ : std::vector<hlo::Shape>(), operands);
  Arrays returned(runs ? results_ : std::vector<hlo::Shape>(), results);
  CallFrame frame = {};
  frame.struct_size = kFrameSize;
  frame.api = &FunctionsForHandlers();
  frame.context = &context;
  frame.stage = stage;
  frame.arguments = arguments.values();
  frame.results = returned.values();
  frame.attributes = attributes_->attributes();
  const absl::Status status = Caught("A foreign function", [&] { return Take(handler(&frame)); });
  if (frame.future != nullptr && status.ok())
    return Unimplemented("The foreign function %s ends later (XLA_FFI_Future).", name_);
  return status;
}

absl::Status Call::Run(const std::vector<void*>& operands, const std::vector<void*>& results,
                       const UserData& user_data, int device) const {
  if (target_.untyped != nullptr) return RunUntyped(operands, results);
  static std::atomic<int64_t> last_run = 0;
  Context context(user_data, device, ++last_run);
  context.Borrow(*program_);
  const Handlers& handlers = target_.handlers;
  RETURN_IF_ERROR(RunStage(handlers.prepare, Stage::kPrepare, operands, results, context));
  RETURN_IF_ERROR(RunStage(handlers.initialize, Stage::kInitialize, operands, results, context));
  return RunStage(handlers.execute, Stage::kExecute, operands, results, context);
}

absl::Status Call::RunUntyped(const std::vector<void*>& operands, const std::vector<void*>& results) const {
  std::vector<const void*> in(operands.begin(), operands.end());
  std::vector<void*> several(results.begin(), results.end());
  void* const out = results.size() == 1 ? results[0] : static_cast<void*>(several.data());
  UntypedStatus status;
  RETURN_IF_ERROR(Caught("A foreign function", [&] {
    switch (version_) {
      case kOriginal: reinterpret_cast<OriginalFunction*>(target_.untyped)(out, in.data()); break;
      case kStatusReturning:
        reinterpret_cast<StatusReturningFunction*>(target_.untyped)(out, in.data(), &status);
        break;
      default:
        reinterpret_cast<UnifiedFunction*>(target_.untyped)(out, in.data(), text_.data(), text_.size(),
                                                            &status);
    }
    return absl::OkStatus();
  }));
  if (!status.message.has_value()) return absl::OkStatus();
  return Internal("The foreign function %s failed: %s", name_, *status.message);
}

}  // namespace hlod::pjrt::ffi
