// Tensors in files: safetensors, and NumPy's .npz.
#pragma once

#include <functional>
#include <string>

#include "hlod/nn/module.h"

namespace hlod::nn {

// The progress of a load or save: the tensors and bytes done so far, and the totals.
struct Progress {
  int64_t tensors = 0, tensors_total = 0;
  int64_t bytes = 0, bytes_total = 0;
  std::string name;  // The tensor that was done last.
};
using ProgressCallback = std::function<void(const Progress&)>;

// Returns the tensors of a .safetensors file, on the host. The file is mapped, and a tensor's bytes are read
// when they are used: To(device) uploads them without keeping a copy. The file must stay as it is while such
// tensors exist. Throws "No such file or directory: <path>", or an error that names the mistake in the file's
// format.
StateDict LoadSafetensors(const std::string& path, Caller caller = Caller::Here());

// Writes tensors to a .safetensors file, by name; a view is written as a dense array. Device tensors are read
// one at a time, under the ledger's cause "save". On failure no file appears. Throws for a placeholder, for
// types that the format does not have, and when the file cannot be written.
void SaveSafetensors(const std::string& path, const StateDict& tensors, const ProgressCallback& progress = {},
                     Caller caller = Caller::Here());

// Returns the arrays of a .npz file (numpy.savez or savez_compressed) by name, on the host. Each array is
// read, inflated and checked when it is first used. bf16 is stored as JAX stores it, as |V2. Throws like
// LoadSafetensors, and for element types that a tensor cannot have (strings, objects, big-endian numbers).
StateDict LoadNpz(const std::string& path, Caller caller = Caller::Here());

// Writes a file that numpy.load reads; otherwise like SaveSafetensors. kDeflated is much slower than kStored,
// and weights seldom get smaller by it.
enum class NpzCompression { kStored, kDeflated };
void SaveNpz(const std::string& path, const StateDict& tensors,
             NpzCompression compression = NpzCompression::kStored, const ProgressCallback& progress = {},
             Caller caller = Caller::Here());

}  // namespace hlod::nn
