// An open trace: operations that are recorded and not yet run. A thread has two per device, a real one and
// one for what depends on a placeholder.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/tensor/value/value.h"
#include "common/hlo/builder.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

inline constexpr hlo::NodeId kNoNode = hlo::Computation::kNoNode;

class TapeEntry;

// A parameter of a trace: it stands for a value, or for a number that travels in the execute. In a function
// it may also stand for an argument, with neither value nor number, or for a captured tensor of the
// surroundings, whose value each call looks up.
struct Parameter {
  Ref<Value> value;                        // Null for a number.
  std::shared_ptr<const Literal> literal;  // Null unless it is a number.
  NodeId node = 0;
  bool random = false;  // The number is a position in the stream of random numbers.
  Tensor captured;
};

class Trace {
 public:
  enum class Kind : uint8_t {
    kReal,      // Runs on a device.
    kAbstract,  // Depends on a placeholder. Parameters may be values that are nodes of real traces.
    kHost,      // Evaluated in this process, one operation at a time.
    kFunction,  // A function that is traced: its arguments have no values.
  };

  Trace(Place place, Kind kind);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const Place place;
  const Kind kind;
  // Changes whenever the trace is cleared, and is unique among traces: (generation, node) names a node until
  // then.
  uint64_t generation() const { return generation_; }

  hlo::Builder& builder() { return builder_; }
  const hlo::Computation& computation() const { return computation_; }
  // For changes that leave every node its id and its meaning.
  hlo::Computation& mutable_computation() { return computation_; }
  hlo::Op op(NodeId node) { return {&builder_, node}; }
  uint32_t size() const { return computation_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // Returns the parameter that the node is, or null.
  const Parameter* ParameterAt(NodeId node) const;

  // Attributes the nodes appended from now on to `operation` at `caller`.
  void SetOrigin(const Caller& caller, const char* operation);
  const OriginRow& origin(NodeId node) const { return TraceTables::Get().origin(OriginId(node)); }
  uint32_t OriginId(NodeId node) const;
  hlo::Notes& mutable_notes(NodeId node) { return computation_.mutable_notes(node); }

  // Returns the node of a value, appending it when needed: its own, a parameter, or what its recipe appends.
  // A node of another trace is copied with all that it depends on, except that an abstract trace takes a real
  // value as a parameter. A failed value becomes a parameter, which is refused when the trace runs.
  NodeId NodeOf(Value& value);
  // Returns the node of a constant; equal constants share one.
  NodeId Constant(Literal literal);
  // Appends a parameter that carries a number. With `random` the number is a position in the stream of random
  // numbers.
  NodeId NumberParameter(Literal literal, bool random = false);
  // Appends any other instruction with the shape `shape`.
  NodeId Append(hlo::Opcode opcode, hlo::ShapeId shape, hlo::AttributesId attributes,
                absl::Span<const NodeId> operands) {
    return computation_.Append(opcode, shape, attributes, operands);
  }
  // Appends a copy of a node of another computation over the same tables, with other operands.
  NodeId AppendCopy(const hlo::Computation& from, NodeId node, absl::Span<const NodeId> operands);

  // In a function: appends the parameter of an argument.
  NodeId ArgumentParameter(const Shape& shape) { return AppendParameter({}, shape); }
  // In a function: returns the parameter of a captured tensor of the surroundings. It stands for the
  // storage's whole value, and `is_whole` is set, unless `tensor` itself collects a gradient as a view.
  NodeId CaptureParameter(TensorImpl& tensor, bool& is_whole);

  // Records that `value` is `node`. While anything refers to the value, it is an output of the trace.
  void AddLive(Value& value, NodeId node);
  void RemoveLive(Value& value);
  // Returns the live values by node, those of one node by id.
  std::vector<Value*> LiveInOrder() const;
  bool has_live() const { return !live_.empty(); }

  // Registers an entry of the tape whose nodes are here: it copies them before they are cleared.
  void AddTape(TapeEntry& entry);
  void RemoveTape(TapeEntry& entry);

  // Returns the nodes on a way from `node` over its operands to the parameter of a placeholder, both
  // included; empty when it depends on none.
  std::vector<NodeId> PathToPlaceholder(NodeId node) const;

  // Forgets everything. REQUIRES: the live values have become something else. Returns the parameters, which
  // the caller destroys after it has released the lock.
  std::vector<Parameter> Clear();

 private:
  struct Copied {
    uint64_t generation;
    NodeId node;
    friend bool operator==(const Copied&, const Copied&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Copied& c) {
      return H::combine(std::move(h), c.generation, c.node);
    }
  };

  NodeId* Known(Value& value);
  void KeepTape();
  template <typename Make>
  NodeId Remembered(Value& value, Make make);
  NodeId ParameterOf(Value& value);
  NodeId AppendParameter(Parameter parameter, const Shape& shape);
  NodeId CopyFrom(Trace& other, NodeId root);

  hlo::Computation computation_;
  hlo::Builder builder_;
  uint64_t generation_;
  std::vector<Parameter> parameters_;
  absl::flat_hash_map<uint64_t, NodeId> node_of_value_, node_of_buffer_;  // By value id, by handle.
  absl::flat_hash_map<hlo::LiteralId, NodeId> constants_;
  std::vector<Value*> live_;
  std::vector<std::pair<NodeId, uint32_t>> origins_;  // (first node, origin), by node
  uint32_t origin_ = 0;
  absl::flat_hash_map<Copied, NodeId> copied_;
  absl::flat_hash_map<uint64_t, NodeId> captured_;  // By address: see CaptureParameter().
  std::vector<TapeEntry*> tape_;
};

}  // namespace hlod::lazy
