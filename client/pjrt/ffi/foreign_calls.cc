// Rewrites calls of foreign functions, and serves them.
#include "client/pjrt/ffi/foreign_calls.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "client/import/program/attribute_text.h"
#include "client/pjrt/callbacks/to_device_stream.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/exceptions.h"
#include "common/passes/copy.h"

namespace hlod::pjrt {
namespace {

using hlo::ComputationId;
using hlo::Instruction;
using hlo::NodeId;
using hlo::Opcode;
using hlo::Shape;

// Returns the function that serves calls of this name; nullopt when there is none. The daemon runs LAPACK's
// routines itself, without the host.
std::optional<ffi::Target> ServedTarget(std::string_view name) {
  std::optional<ffi::Target> target = ffi::FindTarget(name);
  if (target.has_value() && !target->is_own && name.starts_with("lapack_")) return std::nullopt;
  return target;
}

// Returns the function that serves an instruction; nullopt when it is not such a call.
std::optional<ffi::Target> TargetOf(Instruction instruction) {
  if (instruction.opcode() != Opcode::kCustomCall) return std::nullopt;
  const auto& attributes = instruction.attributes<hlo::CustomCallAttributes>();
  std::optional<ffi::Target> target = ServedTarget(attributes.target);
  return target.has_value() && ffi::Serves(*target, attributes.api_version) ? target : std::nullopt;
}

bool HasForeignCalls(const hlo::Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    for (NodeId id = 0; id < module.computation(c).size(); ++id) {
      if (TargetOf(module.computation(c)[id]).has_value()) return true;
    }
  }
  return false;
}

// Returns the first channel after those of the module.
int64_t FreeChannel(const hlo::Module& module) {
  int64_t last = 1;  // Frameworks use 1 for collectives.
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      const hlo::Attributes& attributes = computation[id].attributes();
      if (const auto* const channel = std::get_if<hlo::ChannelAttributes>(&attributes)) {
        last = std::max(last, channel->channel_id);
      } else if (const auto* const group = std::get_if<hlo::CollectiveAttributes>(&attributes)) {
        last = std::max(last, group->channel_id);
      } else if (const auto* const pairs = std::get_if<hlo::PermuteAttributes>(&attributes)) {
        last = std::max(last, pairs->channel_id);
      }
    }
  }
  return last == INT64_MAX ? last : last + 1;
}

// Writes the exchange that takes the place of one call.
class Exchange {
 public:
  Exchange(passes::ComputationCopy& copy, Instruction call, int64_t channel)
      : copy_(copy), call_(call), channel_(channel) {}

  NodeId Write(const ForeignCall& foreign) {
    NodeId token = Add(Opcode::kAfterAll, Shape::Token(), hlo::NoAttributes(), {});
    const absl::InlinedVector<NodeId, 8> operands = copy_.operands(call_);
    if (operands.empty()) {
      const Shape nothing = Shape::Array(hlo::kF32, {1});
      token = Send(Add(Opcode::kIota, nothing, hlo::DimensionsAttributes{{0}}, {}), nothing, token);
    }
    for (size_t i = 0; i < operands.size(); ++i)
      token = Send(operands[i], foreign.call->operands()[i], token);
    std::vector<NodeId> results;
    for (const Shape& shape : foreign.call->results()) results.push_back(Receive(shape, token));
    return call_.shape().IsTuple() ? Add(Opcode::kTuple, call_.shape(), hlo::NoAttributes(), results)
                                   : results[0];
  }

 private:
  NodeId Add(Opcode opcode, const Shape& shape, const hlo::Attributes& attributes,
             absl::Span<const NodeId> operands) {
    return copy_.Replace(call_, opcode, copy_.tables().Intern(shape), attributes, operands);
  }
  NodeId Send(NodeId value, const Shape& shape, NodeId token) {
    const hlo::ChannelAttributes channel{channel_++, /*is_host_transfer=*/true};
    const Shape sent = Shape::Tuple({shape, Shape::Array(hlo::kU32, {}), Shape::Token()});
    const NodeId send = Add(Opcode::kSend, sent, channel, {value, token});
    return Add(Opcode::kSendDone, Shape::Token(), channel, {send});
  }
  NodeId Receive(const Shape& shape, NodeId& token) {
    const hlo::ChannelAttributes channel{channel_++, /*is_host_transfer=*/true};
    const Shape awaited = Shape::Tuple({shape, Shape::Array(hlo::kU32, {}), Shape::Token()});
    const NodeId receive = Add(Opcode::kRecv, awaited, channel, {token});
    const NodeId done = Add(Opcode::kRecvDone, Shape::Tuple({shape, Shape::Token()}), channel, {receive});
    token = Add(Opcode::kGetTupleElement, Shape::Token(), hlo::TupleIndexAttributes{1}, {done});
    return Add(Opcode::kGetTupleElement, shape, hlo::TupleIndexAttributes{0}, {done});
  }

  passes::ComputationCopy& copy_;
  const Instruction call_;
  int64_t channel_;
};

std::vector<Shape> ResultsOf(const Shape& shape) {
  if (!shape.IsTuple()) return {shape};
  return std::vector<Shape>(shape.tuple.begin(), shape.tuple.end());
}

absl::StatusOr<ForeignCall> ReadCall(Instruction instruction, const ffi::Target& target, int64_t channel) {
  const auto& attributes = instruction.attributes<hlo::CustomCallAttributes>();
  std::vector<Shape> operands;
  for (uint32_t i = 0; i < instruction.operands().size(); ++i)
    operands.push_back(instruction.operand(i).shape());
  std::vector<Shape> results = ResultsOf(instruction.shape());
  for (const std::vector<Shape>* const list : {&operands, &results}) {
    for (const Shape& shape : *list) {
      if (!shape.IsArray() || shape.HasDynamicDimension()) {
        return Unimplemented("The foreign function %s has a %s; it can take and give arrays of fixed sizes.",
                             attributes.target, hlo::ToStringNoLayout(shape));
      }
    }
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const ffi::Call> call,
                   ffi::Call::Make(attributes.target, target, attributes.api_version,
                                   attributes.backend_config, std::move(operands), std::move(results)));
  return ForeignCall{std::move(call), channel};
}

// -----------------------------------------------------------------------------------------------------------
// serving

using Memory64 = std::unique_ptr<void, decltype(&std::free)>;

// Returns memory that handlers may use with vector instructions.
Memory64 MakeMemory(size_t size) {
  constexpr size_t kAlignment = 64;
  const size_t rounded = (std::max<size_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = std::aligned_alloc(kAlignment, rounded);
  if (memory != nullptr) std::memset(memory, 0, rounded);
  return Memory64(memory, &std::free);
}

size_t SizeOf(const Shape& shape) { return static_cast<size_t>(hlo::ByteSize(shape).value_or(0)); }

// A call in one participant of one execution. Used by the thread that serves it.
class ServedCall {
 public:
  ServedCall(std::shared_ptr<const ffi::Call> call, const ffi::UserData& user_data, int device)
      : call_(std::move(call)), user_data_(user_data), device_(device) {}

  // Takes the next operand; runs the function with the last one.
  absl::Status Take(const void* data, size_t size) {
    if (call_->operands().empty()) return Run();
    if (operands_.empty()) results_.clear();
    Memory64& operand = operands_.emplace_back(MakeMemory(size));
    if (operand == nullptr) return ResourceExhausted("An operand of %d bytes finds no memory.", size);
    std::memcpy(operand.get(), data, size);
    return operands_.size() < call_->operands().size() ? absl::OkStatus() : Run();
  }
  const void* result(size_t i) const { return results_[i].get(); }

 private:
  absl::Status Run() {
    std::vector<void*> operands, results;
    for (const Memory64& operand : operands_) operands.push_back(operand.get());
    results_.clear();
    absl::Status status;
    for (size_t i = 0; i < call_->results().size(); ++i) {
      results_.push_back(MakeMemory(SizeOf(call_->results()[i])));
      const int alias = call_->AliasOf(i);
      results.push_back(alias >= 0 ? operands[static_cast<size_t>(alias)] : results_[i].get());
      if (results[i] == nullptr)
        status = ResourceExhausted("The results of a foreign function find no memory.");
    }
    if (status.ok()) status = call_->Run(operands, results, user_data_, device_);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i] != results_[i].get())
        std::memcpy(results_[i].get(), results[i], SizeOf(call_->results()[i]));
    }
    operands_.clear();
    return status;
  }

  const std::shared_ptr<const ffi::Call> call_;
  const ffi::UserData user_data_;
  const int device_;
  std::vector<Memory64> operands_, results_;
};

// A result's place in a call.
struct Result {
  ServedCall* call = nullptr;
  size_t index = 0;
  size_t size = 0;
};

Error* TakeOperand(abi::Chunk* chunk, abi::CallbackError* /*make_error*/, size_t, bool, void* user_arg) {
  const absl::Status status = static_cast<ServedCall*>(user_arg)->Take(chunk->data, chunk->size);
  if (chunk->deleter != nullptr) chunk->deleter(chunk->data, chunk->deleter_arg);
  return ToError(status);
}

void GiveResult(CopyToDeviceStream* stream, void* user_arg) {
  const std::unique_ptr<CopyToDeviceStream> held(stream);
  const Result& result = *static_cast<Result*>(user_arg);
  // The stream reports its errors as those of the execution.
  (void)held->Add(result.call->result(result.index), result.size);
}

// The calls and results that the callbacks of a participant refer to.
struct Served {
  std::vector<std::unique_ptr<ServedCall>> calls;
  std::vector<std::unique_ptr<Result>> results;
};

}  // namespace

void NoteAliases(stablehlo::Program& program) {
  const auto visit = [](auto& self, stablehlo::Region& region) -> void {
    for (stablehlo::Block& block : region.blocks) {
      for (stablehlo::Operation& op : block.operations) {
        for (stablehlo::Region& inner : op.regions) self(self, inner);
        if (op.name != "stablehlo.custom_call") continue;
        const stablehlo::Attribute* const name = stablehlo::Find(op.attributes, "call_target_name");
        const std::optional<ffi::Target> target =
            name == nullptr ? std::nullopt : ServedTarget(stablehlo::PlainText(*name));
        if (!target.has_value() || target->untyped != nullptr) continue;
        const stablehlo::Attribute* const stated = stablehlo::Find(op.attributes, "output_operand_aliases");
        const auto* const list =
            stated == nullptr ? nullptr : std::get_if<std::vector<stablehlo::Attribute>>(&stated->value);
        if (list == nullptr || list->empty()) continue;
        auto* const config = std::get_if<std::shared_ptr<stablehlo::AttributeMap>>(
            &op.attributes.try_emplace("mhlo.backend_config").first->second.value);
        stablehlo::Integers pairs;
        for (const stablehlo::Attribute& entry : *list) {
          const stablehlo::AttributeMap* const fields = stablehlo::MapOf(&entry);
          const auto* const of =
              fields == nullptr ? nullptr : stablehlo::Find(*fields, "output_tuple_indices");
          const auto* const from = fields == nullptr ? nullptr : stablehlo::Find(*fields, "operand_index");
          const auto* const indices = of == nullptr ? nullptr : std::get_if<stablehlo::Integers>(&of->value);
          const auto* const operand = from == nullptr ? nullptr : std::get_if<int64_t>(&from->value);
          if (indices == nullptr || operand == nullptr) continue;
          pairs.push_back(indices->empty() ? 0 : indices->front());
          pairs.push_back(*operand);
        }
        stablehlo::AttributeMap known = config == nullptr ? stablehlo::AttributeMap() : **config;
        known[std::string(ffi::CallAttributes::kAliases)] = {.value = std::move(pairs)};
        op.attributes["mhlo.backend_config"].value =
            std::make_shared<stablehlo::AttributeMap>(std::move(known));
      }
    }
  };
  for (stablehlo::Function& function : program.functions) visit(visit, function.body);
}

absl::Status ReplaceForeignCalls(std::unique_ptr<hlo::Module>& module, std::vector<ForeignCall>& calls) {
  if (!HasForeignCalls(*module)) return absl::OkStatus();
  int64_t channel = FreeChannel(*module);
  // Leaves room for the calls of any program.
  constexpr int64_t kChannelMax = INT64_MAX - (int64_t{1} << 32);
  if (channel > kChannelMax) {
    return InvalidArgument(
        "The program has a channel (%d) above %d; calls of foreign functions take the numbers after it.",
        channel - 1, kChannelMax - 1);
  }
  absl::Status status;
  module = passes::Rewritten(*module, nullptr, [&](passes::ComputationCopy& copy, Instruction instruction) {
    const std::optional<ffi::Target> target = TargetOf(instruction);
    absl::StatusOr<ForeignCall> call =
        target.has_value() && status.ok() ? ReadCall(instruction, *target, channel) : absl::CancelledError();
    if (!call.ok()) {
      if (target.has_value()) status.Update(call.status());
      return copy.Clone(instruction);
    }
    channel += static_cast<int64_t>(call->sends() + call->call->results().size());
    return Exchange(copy, instruction, call->first_channel).Write(calls.emplace_back(*std::move(call)));
  });
  return status;
}

void ServeForeignCalls(const std::vector<ForeignCall>& calls, const ffi::UserData& user_data,
                       ParticipantCallbacks& participant) {
  auto served = std::make_shared<Served>();
  for (const ForeignCall& foreign : calls) {
    ServedCall* const call = served->calls
                                 .emplace_back(std::make_unique<ServedCall>(foreign.call, user_data,
                                                                            participant.device->ordinal()))
                                 .get();
    int64_t channel = foreign.first_channel;
    for (size_t i = 0; i < foreign.sends(); ++i) participant.sends.push_back({channel++, call, TakeOperand});
    for (size_t i = 0; i < foreign.call->results().size(); ++i) {
      Result* const result =
          served->results
              .emplace_back(std::make_unique<Result>(Result{call, i, SizeOf(foreign.call->results()[i])}))
              .get();
      participant.receives.push_back({channel++, result, GiveResult});
    }
  }
  participant.served = std::move(served);
}

}  // namespace hlod::pjrt
