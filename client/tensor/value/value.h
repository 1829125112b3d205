// Tensors consist of values, which never change, and storages, whose value is replaced by updates in place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/tensor/value/pool.h"
#include "client/tensor/value/ref.h"
#include "common/hlo/builder.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/types.h"

namespace hlod::lazy {

class Trace;
class Runtime;
class TapeEntry;
struct Lowering;
using hlo::NodeId;

// The place where a value lives: a device of a connection, or the host.
struct Place {
  Runtime* runtime = nullptr;  // Null for the host. Never freed, so that a tensor outlives its connection.
  int ordinal = 0;

  bool is_host() const { return runtime == nullptr; }
  friend bool operator==(const Place&, const Place&) = default;
};

// Reads an array from where it is stored.
using Load = std::function<absl::StatusOr<Literal>()>;
// Appends the instructions that make a value to a trace, and returns its node.
using Recipe = std::function<hlo::Op(Lowering&)>;

// Returns the id of a new value or tensor, unique in the process.
uint64_t NextId();

// One immutable value. Its state is guarded by TraceLock. The way it is stored changes (a node becomes a
// buffer when its trace runs, a recipe becomes a literal when its bytes are read), but its contents do not.
class Value : public RefCounted, public Pooled<Value> {
 public:
  enum class State : uint8_t {
    kHost,         // In `literal`.
    kRecipe,       // On the host, in `recipe`: a factory whose bytes were not read yet.
    kFile,         // On the host, in `load`: an array in a file, or a conversion of one, not yet read.
    kNode,         // In `node` of the open trace `graph`.
    kData,         // In `buffer`, which may itself be pending, failed, donated or a placeholder.
    kPlaceholder,  // Only a shape.
    kFailed,       // Failed with `failure`.
  };

  Value(hlo::PrimitiveType type, Dims dims, Place place, Caller origin);
  ~Value();
  static void Destroy(Value* value);

  const hlo::PrimitiveType type;
  const Place place;
  const Dims dims;
  const uint64_t id;  // Unique in the process.
  const Caller origin;
  std::shared_ptr<const std::string> sharding;  // A serialized OpSharding, or null. Set once.

  State state = State::kFailed;
  std::shared_ptr<const Literal> literal;
  Recipe recipe;
  Load load;
  bool keeps_loaded = false;  // True when the host keeps the result of `load` even if it is for a device.
  Trace* graph = nullptr;
  NodeId node = 0;
  uint32_t live_index = 0;  // The index in the trace's live_.
  Buffer buffer;
  mutable bool may_be_placeholder = true;  // False once `buffer` is known to have a value.
  absl::Status failure;

  // The entry of the tape that gradients flow to, and the index of the value among its outputs. Null for most
  // values.
  Ref<TapeEntry> history;
  uint32_t history_output = 0;
  // The entry that last wrote the value in place through a detached tensor, to which that tensor's lineage
  // leads. A close finds it here.
  Ref<TapeEntry> detached_history;

  // The node that this value (a buffer or a recipe) was last found to have in an open trace: a cache of the
  // trace's own table.
  uint64_t known_graph = 0;  // The trace's generation.
  NodeId known_node = 0;

  Shape shape() const { return Shape::Array(type, dims); }
  // True on the host while its bytes do not exist yet.
  bool IsDeferred() const { return state == State::kRecipe || state == State::kFile; }
  // True when it is a placeholder itself. A value that depends on one is a node of an abstract trace.
  bool IsPlaceholder() const {
    if (state != State::kData) return state == State::kPlaceholder;
    // A buffer that has a value keeps it, so this is checked only until then.
    may_be_placeholder = may_be_placeholder && buffer.is_placeholder();
    return may_be_placeholder;
  }
  // Change the way the value is stored.
  void Become(std::shared_ptr<const Literal> value);
  void Become(Buffer value);
  void Become(absl::Status why);

 private:
  void Leave();  // Ends the current way: a node is not live any more.
};

// Shared by all views of one tensor: the current value, and the number of times that it was replaced.
class Storage : public RefCounted, public Pooled<Storage> {
 public:
  explicit Storage(Ref<Value> first)
      : type(first->type), place(first->place), dims(first->dims), value(std::move(first)) {}
  static void Destroy(Storage* storage) { delete storage; }

  // The same for all of its values; read without the lock.
  const hlo::PrimitiveType type;
  const Place place;
  const Dims dims;

  Ref<Value> value;  // Guarded by TraceLock, like the rest.
  uint64_t version = 0;
  // True when others may write to the value's bytes; then results computed from them are not cached.
  bool exposed = false;
};

// Returns "f32[2,3]" for a value.
std::string ShapeText(const Value& value);
// Returns "model.cc:8".
std::string LineText(const Caller& caller);

}  // namespace hlod::lazy
