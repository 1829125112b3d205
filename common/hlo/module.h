// The IR: modules of computations of instructions, stored in arenas of words that only grow.
//
// A computation is one vector of 32-bit words. An instruction is {opcode and called count, operand count,
// shape id, attributes id, operand ids..., called computation ids...}. Operands have smaller ids than their
// user and callees smaller ids than their caller, so cycles and recursion cannot be expressed, and every walk
// is a loop. Shapes and attributes are interned in Tables, so two computations over the same Tables are equal
// exactly when their words are (side notes aside): one memcmp. Appending costs a few nanoseconds, because an
// open trace of the client *is* a Computation. Names, metadata, shardings and unknown proto fields are notes
// in a side table, for the few instructions that have them. An appended instruction never changes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/text/words.h"
#include "common/hlo/attributes.h"
#include "common/hlo/literal.h"
#include "common/hlo/opcode.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

using NodeId = uint32_t;  // The id of an instruction in its computation: 0, 1, 2, ... in order of appending.
using ShapeId = uint32_t;        // An id in Tables.
using AttributesId = uint32_t;   // An id in Tables; 0 is NoAttributes.
using ComputationId = uint32_t;  // The index of a computation in its module.

// Interned shapes, attributes and literals, shared by the modules that one thread builds. References stay
// valid as long as the Tables. While a thread interns, no other thread may use them; concurrent reading is
// safe.
class Tables {
 public:
  Tables();
  ~Tables();
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  // Equal shapes (including layouts) have equal ids.
  ShapeId Intern(const Shape& shape);
  const Shape& shape(ShapeId id) const { return shapes_[id]; }

  AttributesId Intern(const Attributes& attributes);
  const Attributes& attributes(AttributesId id) const;

  // Literals of at most 64 KiB with equal shape and bytes have equal ids; larger ones are not compared.
  LiteralId Intern(std::shared_ptr<const Literal> literal);
  const Literal& literal(LiteralId id) const { return *literals_[id]; }
  const std::shared_ptr<const Literal>& shared_literal(LiteralId id) const { return literals_[id]; }

 private:
  // Ids by hash. A small direct-mapped cache is searched before the map, because a trace uses the same few
  // values repeatedly.
  class Index {
   public:
    // Returns the id with this hash for which `equal(id)` is true. If there is none, adds and returns `next`.
    template <typename Equal>
    uint32_t FindOrAdd(uint64_t hash, uint32_t next, Equal equal);

   private:
    static constexpr size_t kSlots = 256;
    struct Slot {
      uint64_t hash = 0;
      uint32_t id = UINT32_MAX;
    };
    std::array<Slot, kSlots> recent_;
    absl::flat_hash_map<uint64_t, absl::InlinedVector<uint32_t, 1>> ids_;
  };

  std::deque<Shape> shapes_;
  std::deque<Attributes> attributes_;
  std::deque<std::shared_ptr<const Literal>> literals_;
  Index shape_index_, attributes_index_, literal_index_;
};

// The source of an instruction: those fields of XLA's OpMetadata that people read.
struct Metadata {
  std::string op_type, op_name, source_file;
  int32_t source_line = 0;
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// Data of an instruction that does not affect its value. All fields are empty for most instructions.
struct Notes {
  std::string name;  // Unique in an imported module; when empty, printed as "<opcode>.<id>".
  Metadata metadata;
  std::map<std::string, std::string> frontend_attributes;
  // Opaque bytes, except for a custom-call, whose backend_config is in its attributes.
  std::string backend_config;
  std::vector<NodeId> control_predecessors;
  std::string sharding;    // A serialized OpSharding, or empty.
  std::string unmodelled;  // A serialized HloInstructionProto of the fields that this build does not model.
};

class Computation;
class Module;

// A view of one instruction. Cheap to copy; valid until the next Append, which may move the arena, and as
// long as its computation.
class Instruction {
 public:
  Instruction(const Computation* computation, NodeId id, const uint32_t* words)
      : computation_(computation), id_(id), words_(words) {}

  NodeId id() const { return id_; }
  const Computation& computation() const { return *computation_; }
  Opcode opcode() const { return static_cast<Opcode>(words_[0] & 0xff); }
  ShapeId shape_id() const { return words_[2]; }
  AttributesId attributes_id() const { return words_[3]; }
  inline const Shape& shape() const;
  inline const Attributes& attributes() const;
  // Returns the attributes as the alternative that the opcode's row names. REQUIRES: T is that alternative.
  template <typename T>
  const T& attributes() const {
    return std::get<T>(attributes());
  }
  // Returns dimensions={...}. REQUIRES: the opcode has DimensionsAttributes.
  const Dims& dimensions() const;

  uint32_t operand_count() const { return words_[1]; }
  absl::Span<const NodeId> operands() const { return {words_ + 4, words_[1]}; }
  inline Instruction operand(uint32_t index) const;
  absl::Span<const ComputationId> called() const { return {words_ + 4 + words_[1], words_[0] >> 8}; }

  const Literal& literal() const;    // REQUIRES: the instruction is a constant.
  int64_t parameter_number() const;  // REQUIRES: the instruction is a parameter.
  // Returns the note's name, or "<opcode>.<id>".
  std::string name() const;

 private:
  const Computation* computation_;
  NodeId id_;
  const uint32_t* words_;
};

// The properties of a computation other than its name and instructions. Copied as a whole.
struct ComputationConfig {
  std::string execution_thread;  // The thread that runs it; "" is the main thread.
  bool is_fusion = false;
  std::string unmodelled;  // A serialized HloComputationProto of the fields that this build does not model.
  friend bool operator==(const ComputationConfig&, const ComputationConfig&) = default;
};

// One function: instructions in operand-before-user order, a root, parameters by number.
class Computation {
 public:
  Computation(std::shared_ptr<Tables> tables, std::string name);
  Computation(const Computation&);
  Computation(Computation&&) noexcept;
  Computation& operator=(const Computation&);
  Computation& operator=(Computation&&) noexcept;
  ~Computation();

  // Appends an instruction and returns its id. REQUIRES: operands exist; `called` are ids of earlier
  // computations of the module; attributes are of the opcode's alternative. The shape is not checked: Builder
  // infers shapes, and Verify checks them. The last appended instruction is the root until set_root is
  // called.
  NodeId Append(Opcode opcode, ShapeId shape, AttributesId attributes, absl::Span<const NodeId> operands,
                absl::Span<const ComputationId> called = {});

  // Removes all instructions and notes, and keeps the memory.
  void Clear();

  uint32_t size() const { return static_cast<uint32_t>(offsets_.size()); }
  Instruction operator[](NodeId id) const { return Instruction(this, id, words_.data() + offsets_[id]); }
  Instruction instruction(NodeId id) const { return (*this)[id]; }

  NodeId root_id() const { return root_ == kNoNode ? size() - 1 : root_; }
  Instruction root() const { return (*this)[root_id()]; }
  void set_root(NodeId id) { root_ = id; }

  // The ids of the parameters in order, up to the first missing number. Verified computations have no gap.
  absl::Span<const NodeId> parameters() const { return parameters_; }
  static constexpr NodeId kNoNode = UINT32_MAX;

  // Returns the shapes and names of the parameters, and the shape of the root.
  ProgramShape program_shape() const;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  Tables& tables() const { return *tables_; }
  const std::shared_ptr<Tables>& shared_tables() const { return tables_; }

  // Returns the notes of an instruction, or null.
  const Notes* notes(NodeId id) const;
  // Returns the notes of an instruction, which are added when missing. Valid until the next call.
  Notes& mutable_notes(NodeId id);
  // Makes instruction `id` share the notes, if any, of instruction `other_id` of `other`, until either
  // changes.
  void ShareNotes(NodeId id, const Computation& other, NodeId other_id);

  // Returns OK, or the reason why the computation must not run: its Builder failed, or has not finished it.
  const absl::Status& built() const { return built_; }
  void set_built(absl::Status status) { built_ = std::move(status); }

  // The words of the arena: equal words over the same Tables mean equal programs.
  absl::Span<const uint32_t> words() const { return {words_.data(), words_.size()}; }

  ComputationConfig config;

 private:
  std::shared_ptr<Tables> tables_;
  std::string name_;
  Words words_;
  Words offsets_;  // The start of each instruction in words_.
  void AddParameter(int64_t number, NodeId id);

  std::vector<NodeId> parameters_;
  // Parameters that were appended before one with a smaller number.
  std::map<int64_t, NodeId> early_parameters_;
  NodeId root_ = kNoNode;  // The root; kNoNode: the last instruction.
  absl::flat_hash_map<NodeId, std::shared_ptr<Notes>> notes_;
  absl::Status built_;
};

// An output of the module that may reuse the memory of a parameter.
struct InputOutputAlias {
  Dims output_index;
  int64_t parameter_number = 0;
  Dims parameter_index;
  bool must_alias = false;
  friend bool operator==(const InputOutputAlias&, const InputOutputAlias&) = default;
};
// A parameter whose memory the program may reuse for anything.
struct BufferDonor {
  int64_t parameter_number = 0;
  Dims parameter_index;
  friend bool operator==(const BufferDonor&, const BufferDonor&) = default;
};

// The properties of a module besides its name and its computations. Copied whole. A copy whose entry has
// other parameters or results must clear the fields about them (ClearSignature).
struct ModuleConfig {
  // The entry's signature with the layouts that the caller wants. When it has no parameters and an invalid
  // result, the signature is that of the entry itself.
  ProgramShape entry_layout;
  std::vector<InputOutputAlias> input_output_alias;
  std::vector<BufferDonor> buffer_donors;
  std::map<std::string, std::string> frontend_attributes;
  // In a proto these are the counts of the device assignment.
  int64_t replica_count = 1, partition_count = 1;
  bool is_scheduled = false;
  // A serialized HloModuleProto of the fields that this build does not model (stack frames, profiles, ...).
  std::string unmodelled;

  void ClearSignature();

  friend bool operator==(const ModuleConfig&, const ModuleConfig&) = default;
};

// A program: its computations, callees first, and its entry.
class Module {
 public:
  explicit Module(std::string name, std::shared_ptr<Tables> tables = std::make_shared<Tables>())
      : name_(std::move(name)), tables_(std::move(tables)) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Appends an empty computation. The last one added is the entry until set_entry is called. References stay
  // valid.
  Computation& AddComputation(std::string name);
  ComputationId computation_count() const { return static_cast<ComputationId>(computations_.size()); }
  const Computation& computation(ComputationId id) const { return *computations_[id]; }
  Computation& computation(ComputationId id) { return *computations_[id]; }

  ComputationId entry_id() const { return entry_ == kLast ? computation_count() - 1 : entry_; }
  const Computation& entry() const { return *computations_[entry_id()]; }
  Computation& entry() { return *computations_[entry_id()]; }
  void set_entry(ComputationId id) { entry_ = id; }

  Tables& tables() const { return *tables_; }
  const std::shared_ptr<Tables>& shared_tables() const { return tables_; }

  // Returns the number of instructions in all computations.
  int64_t instruction_count() const;

  ModuleConfig config;

 private:
  std::string name_;
  std::shared_ptr<Tables> tables_;
  std::vector<std::unique_ptr<Computation>> computations_;
  static constexpr ComputationId kLast = UINT32_MAX;
  ComputationId entry_ = kLast;
};

// Returns the same program over its own Tables, so that work on the copy does not intern into Tables that
// other threads may be reading. Large literals are shared.
std::unique_ptr<Module> Clone(const Module& module);

inline const Shape& Instruction::shape() const { return computation_->tables().shape(shape_id()); }
inline const Attributes& Instruction::attributes() const {
  return computation_->tables().attributes(attributes_id());
}
inline Instruction Instruction::operand(uint32_t index) const { return (*computation_)[words_[4 + index]]; }

}  // namespace hlod::hlo
