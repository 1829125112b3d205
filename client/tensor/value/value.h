// Tensors consist of values, which never change, and storages, whose value is replaced by updates in place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

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

// One immutable value. Its form is guarded by TraceLock. It changes (a node becomes a buffer when its trace
// runs, a recipe becomes a literal when its bytes are read), but the contents do not.
class Value : public RefCounted, public Pooled<Value> {
 public:
  // The forms in which a value is stored, in the order of `form_`.
  enum class State : uint8_t {
    kFailed,       // By failure(), which is OK only while the value is being made.
    kHost,         // In literal().
    kRecipe,       // On the host, in recipe(): a factory whose bytes were not read yet.
    kFile,         // On the host, in file(): an array in a file, or a conversion of one, not yet read.
    kNode,         // In node() of the open trace graph().
    kData,         // In buffer(), which may itself be pending, failed, donated or a placeholder.
    kPlaceholder,  // Only a shape.
  };
  // An array that is read when it is needed.
  struct File {
    Load load;
    bool keeps_loaded = false;  // True when the host keeps the result of `load` even if it is for a device.
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
  State state() const { return static_cast<State>(form_.index()); }
  // Each returns its own form's part. Those that return pointers return null in the other forms, and buffer()
  // an invalid Buffer; the others require their form.
  const absl::Status& failure() const { return std::get<absl::Status>(form_); }
  std::shared_ptr<const Literal> literal() const;
  const Recipe& recipe() const { return std::get<Recipe>(form_); }
  const File& file() const { return std::get<File>(form_); }
  Trace* graph() const {
    const Live* const live = std::get_if<Live>(&form_);
    return live == nullptr ? nullptr : live->graph;
  }
  NodeId node() const { return std::get<Live>(form_).node; }
  const Buffer& buffer() const;

  // Returns true on the host while its bytes do not exist yet.
  bool IsDeferred() const { return state() == State::kRecipe || state() == State::kFile; }
  // Returns true when it is a placeholder itself. A value that depends on one is a node of an abstract trace.
  bool IsPlaceholder() const {
    const Data* const data = std::get_if<Data>(&form_);
    if (data == nullptr) return state() == State::kPlaceholder;
    // A buffer that has a value keeps it, so this is checked only until then.
    data->may_be_placeholder = data->may_be_placeholder && data->buffer.is_placeholder();
    return data->may_be_placeholder;
  }
  // Returns true when it depends on a placeholder, as far as its trace is known.
  bool IsAbstract() const;

  // Change the form in which the value is stored.
  void Become(std::shared_ptr<const Literal> value);
  void Become(Recipe recipe);
  void Become(File file);
  void Become(Buffer value);
  void Become(absl::Status why);
  void BecomePlaceholder();

 private:
  friend class Trace;  // Makes a value its node, and keeps the index.

  struct Live {
    Trace* graph = nullptr;
    NodeId node = 0;
    uint32_t index = 0;  // The index in the trace's live_.
  };
  struct Data {
    Buffer buffer;
    mutable bool may_be_placeholder = true;  // False once `buffer` is known to have a value.
  };
  struct Placeholder {};

  void Leave();  // Ends the form of a node: it is not live any more.

  std::variant<absl::Status, std::shared_ptr<const Literal>, Recipe, File, Live, Data, Placeholder> form_;
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
  // True when a tensor that had it shows other data now (SetData). A function that was traced before must be
  // traced again, because it reads this storage.
  bool superseded = false;
};

// Returns "f32[2,3]" for a value.
std::string ShapeText(const Value& value);
// Returns "model.cc:8".
std::string LineText(const Caller& caller);

}  // namespace hlod::lazy
