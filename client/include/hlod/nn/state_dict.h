// Tensors in files: safetensors, and NumPy's .npz.
#pragma once

#include <functional>
#include <string>

#include "hlod/nn/module.h"

namespace hlod::nn {

// The progress of a load or save: the tensors and bytes that are done, and their totals.
struct Progress {
  int64_t tensors = 0, tensors_total = 0;
  int64_t bytes = 0, bytes_total = 0;
  std::string name;  // The one that was just done.
};
using ProgressCallback = std::function<void(const Progress&)>;

// The tensors of a .safetensors file, on the host. The file is mapped, and a tensor's bytes are read when
// they are asked for: To(device) uploads them without keeping a copy. The file must stay as it is while such
// tensors exist. Throws "No such file or directory: <path>", and for a file that is not in the format, naming
// what is wrong.
StateDict LoadSafetensors(const std::string& path, Caller caller = Caller::Here());

// Writes tensors to a .safetensors file, by name; views as dense arrays. Device tensors are read one at a
// time, in the ledger with the cause save. The file appears whole or not at all. Throws for a placeholder,
// for types that the format has no name for, and when the file cannot be written.
void SaveSafetensors(const std::string& path, const StateDict& tensors, const ProgressCallback& progress = {},
                     Caller caller = Caller::Here());

// The arrays of a .npz file, as numpy.savez and savez_compressed write them, on the host and by name. They
// are read, inflated and checked when they are asked for. bf16 is the type that JAX saves as |V2. Throws as
// LoadSafetensors does, also for arrays of what is not a tensor's type (strings, objects, big-endian
// numbers).
StateDict LoadNpz(const std::string& path, Caller caller = Caller::Here());

// Writes what numpy.load reads, as SaveSafetensors does otherwise. Deflating takes far longer than writing;
// weights seldom get smaller by it.
enum class NpzCompression { kStored, kDeflated };
void SaveNpz(const std::string& path, const StateDict& tensors,
             NpzCompression compression = NpzCompression::kStored, const ProgressCallback& progress = {},
             Caller caller = Caller::Here());

}  // namespace hlod::nn
