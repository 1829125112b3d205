// An open trace: operations that are recorded but not yet run. A thread has two per device, a real one and
// one for operations that depend on a placeholder.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/tensor/trace/node_origins.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/tensor/value/value.h"
#include "common/hlo/builder.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

inline constexpr hlo::NodeId kNoNode = hlo::Computation::kNoNode;

class TapeEntry;

// A parameter of a trace: a value, or a number that is sent in the execute. In a function it may also be an
// argument, which has neither a value nor a number, or a captured tensor, whose value is looked up at each
// call.
struct Parameter {
  Ref<Value> value;                        // Null for a number.
  std::shared_ptr<const Literal> literal;  // Null unless it is a number.
  NodeId node = 0;
  bool random = false;  // True when the number is a position in the stream of random numbers.
  Tensor captured;
};

class Trace {
 public:
  enum class Kind : uint8_t {
    kReal,  // Runs on a device.
    // Operations that depend on a placeholder. Parameters may be values that are nodes of real traces.
    kAbstract,
    kHost,      // Operations evaluated in this process, one at a time.
    kFunction,  // A function that is traced: its arguments have no values.
  };

  Trace(Place place, Kind kind);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const Place place;
  const Kind kind;
  // Changes whenever the trace is cleared, and is unique among traces: until then (generation, node)
  // identifies a node.
  uint64_t generation() const { return generation_; }

  hlo::Builder& builder() { return builder_; }
  const hlo::Computation& computation() const { return computation_; }
  // For changes that keep the id and the meaning of every node.
  hlo::Computation& mutable_computation() { return computation_; }
  hlo::Op op(NodeId node) { return {&builder_, node}; }
  uint32_t size() const { return computation_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // Returns the parameter that the node is, or null.
  const Parameter* ParameterAt(NodeId node) const;

  // Attributes the nodes appended from now on to `operation` at `caller`.
  void SetOrigin(const Caller& caller, const char* operation);
  const OriginRow& origin(NodeId node) const { return TraceTables::Get().origin(origins_.At(node)); }
  const NodeOrigins& origins() const { return origins_; }
  // Returns the origin of the nodes appended from now on.
  const OriginRow& origin_now() const { return TraceTables::Get().origin(origins_.now()); }
  hlo::Notes& mutable_notes(NodeId node) { return computation_.mutable_notes(node); }

  // Returns the node of a value, which is appended if needed: its own node, a parameter, or the nodes of its
  // recipe. A node of another trace is copied with all that it depends on, except that an abstract trace
  // takes a real value as a parameter. A failed value becomes a parameter, which is refused when the trace
  // runs.
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

  // In a function: appends a parameter for an argument.
  NodeId ArgumentParameter(const Shape& shape) { return AppendParameter({}, shape); }
  // In a function: returns the parameter for a captured tensor. It is the storage's whole value, and
  // `is_whole` is set, unless `tensor` itself collects a gradient as a view.
  NodeId CaptureParameter(TensorImpl& tensor, bool& is_whole);

  // Records that `value` is computed by `node`. While the value is referred to, it is an output of the trace.
  void AddLive(Value& value, NodeId node);
  void RemoveLive(Value& value);
  // Returns the live values in order of their nodes, and those of the same node in order of id.
  std::vector<Value*> LiveInOrder() const;
  bool has_live() const { return !live_.empty(); }

  // Registers an entry of the tape whose nodes are in this trace: it copies them before they are cleared.
  void AddTape(TapeEntry& entry);
  void RemoveTape(TapeEntry& entry);

  // Clears the trace. REQUIRES: the live values are no longer nodes of it. Returns the parameters, which the
  // caller destroys after it has released the lock.
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
  // The nodes by value id, and by handle.
  absl::flat_hash_map<uint64_t, NodeId> node_of_value_, node_of_buffer_;
  absl::flat_hash_map<hlo::LiteralId, NodeId> constants_;
  std::vector<Value*> live_;
  NodeOrigins origins_;
  absl::flat_hash_map<Copied, NodeId> copied_;
  // The captured tensors by address: see CaptureParameter().
  absl::flat_hash_map<uint64_t, NodeId> captured_;
  std::vector<TapeEntry*> tape_;
};

}  // namespace hlod::lazy
