// An open graph: operations recorded and not yet run. One thread has two a device, one real and one for what
// depends on a placeholder.
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

// What a graph's parameter stands for: a value, or a number that travels in the execute. In a function also
// an argument (neither), or a tensor of the surroundings, whose value is asked for at each call.
struct Parameter {
  Ref<Value> value;                        // Null for a number.
  std::shared_ptr<const Literal> literal;  // Of a number.
  NodeId node = 0;
  bool random = false;  // The number is a position in the stream of random numbers.
  Tensor captured;
};

class Trace {
 public:
  enum class Kind : uint8_t {
    kReal,      // Runs on a device.
    kAbstract,  // Depends on a placeholder. Its parameters may be values that are still nodes of real graphs.
    kHost,      // Evaluated in this process, one operation at a time.
    kFunction,  // A function that is traced: its arguments have no values.
  };

  Trace(Place place, Kind kind);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const Place place;
  const Kind kind;
  // Changes whenever the graph is cleared, and is unique among graphs: what names a node for a while.
  uint64_t generation() const { return generation_; }

  hlo::Builder& builder() { return builder_; }
  const hlo::Computation& computation() const { return computation_; }
  // For a change that leaves every node its id and its meaning.
  hlo::Computation& mutable_computation() { return computation_; }
  hlo::Op op(NodeId node) { return {&builder_, node}; }
  uint32_t size() const { return computation_.size(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // The parameter that a node is, or null.
  const Parameter* ParameterAt(NodeId node) const;

  // Nodes appended from now on are `operation`'s at `caller`.
  void SetOrigin(const Caller& caller, const char* operation);
  const OriginRow& origin(NodeId node) const { return TraceTables::Get().origin(OriginId(node)); }
  uint32_t OriginId(NodeId node) const;
  hlo::Notes& mutable_notes(NodeId node) { return computation_.mutable_notes(node); }

  // The node of a value: its own, a parameter, or what its recipe appends. A node of another graph is copied
  // with all it depends on, except that an abstract graph takes a real value as a parameter. A failed value's
  // parameter is refused when the graph runs.
  NodeId NodeOf(Value& value);
  // A constant, once for equal ones.
  NodeId Constant(Literal literal);
  // A parameter that carries a number; `random`: a position in the stream of random numbers.
  NodeId NumberParameter(Literal literal, bool random = false);
  // Another instruction, of the shape that it has.
  NodeId Append(hlo::Opcode opcode, hlo::ShapeId shape, hlo::AttributesId attributes,
                absl::Span<const NodeId> operands) {
    return computation_.Append(opcode, shape, attributes, operands);
  }
  // A copy of a node of another computation over the same tables, with other operands.
  NodeId AppendCopy(const hlo::Computation& from, NodeId node, absl::Span<const NodeId> operands);

  // Of a function: a parameter for an argument; and the one that stands for a tensor of the surroundings:
  // for its storage's whole value, except where `tensor` itself collects a gradient as a view.
  NodeId ArgumentParameter(const Shape& shape) { return AppendParameter({}, shape); }
  NodeId CaptureParameter(TensorImpl& tensor, bool& is_whole);

  // Records that `value` is `node`: while anything refers to the value, it is an output of the graph.
  void AddLive(Value& value, NodeId node);
  void RemoveLive(Value& value);
  // By node.
  std::vector<Value*> LiveInOrder() const;
  bool has_live() const { return !live_.empty(); }

  // Entries of the tape whose nodes are here: they copy them before they are cleared.
  void AddTape(TapeEntry& entry);
  void RemoveTape(TapeEntry& entry);

  // A node from whose operands `node` depends on a placeholder, or kNoNode: the first on the way there.
  // All of them from `node` to the placeholder's parameter, or empty when it depends on none.
  std::vector<NodeId> PathToPlaceholder(NodeId node) const;

  // Forgets everything; its live values have become something else. The parameters' values are given to the
  // caller, who lets go of them after the lock.
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
  absl::flat_hash_map<uint64_t, NodeId> node_of_value_, node_of_buffer_;  // By id, by handle.
  absl::flat_hash_map<hlo::LiteralId, NodeId> constants_;
  std::vector<Value*> live_;
  std::vector<std::pair<NodeId, uint32_t>> origins_;  // (first node, origin): nodes of one call follow.
  uint32_t origin_ = 0;
  absl::flat_hash_map<Copied, NodeId> copied_;
  absl::flat_hash_map<uint64_t, NodeId> captured_;  // By the value or tensor.
  std::vector<TapeEntry*> tape_;
};

}  // namespace hlod::lazy
