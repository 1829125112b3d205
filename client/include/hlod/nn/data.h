// Data for training: examples from files, and batches of them on a device.
//
//   data::Dataset digits = data::Dataset::FromNpz("digits.npz");
//   data::DataLoader loader(digits, {.batch_size = 32, .shuffle = true, .device = device});
//   for (int epoch = 0; epoch < 10; ++epoch) {
//     for (const data::Batch& batch : loader) Step(batch.at("images"), batch.at("labels"));
//   }
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlod/nn/state_dict.h"

namespace hlod::data {

// Tensors by name. Row i of each tensor belongs to example i of the batch.
using Batch = nn::StateDict;

// An array made of columns of a CSV file: one column is a vector, several are [examples, columns].
struct CsvArray {
  std::string name;
  std::vector<std::string> columns;
  PrimitiveType type = kF32;  // f32, f64, s32 or s64.
};
struct CsvOptions {
  // The arrays to make; empty: every column as an f32 array under its own name.
  std::vector<CsvArray> arrays = {};
  char delimiter = ',';
  // True when the first line names the columns; otherwise they are named "0", "1", and so on.
  bool header = true;
};

// Host arrays by name, all with the same first size: example i is row i of each array. Cheap to copy, and
// safe to use from several threads. The constructor and the functions below throw for arrays without a first
// size, and when these sizes differ. Errors name the file, and for CSV the line and column.
class Dataset {
 public:
  static Dataset FromTensors(const Batch& tensors, Caller caller = Caller::Here());
  // Reads a file of numpy.savez, and inflates it, at once.
  static Dataset FromNpz(const std::string& path, Caller caller = Caller::Here());
  // Maps files of numpy.save; the keys are the names of the arrays. Rows are read when they are used, so the
  // files may be larger than memory, and must not change meanwhile. Row-major arrays only.
  static Dataset FromNpy(const std::map<std::string, std::string>& paths, Caller caller = Caller::Here());
  // Reads a file of numbers with one header line at once (RFC 4180, but a field cannot span lines).
  static Dataset FromCsv(const std::string& path, const CsvOptions& options = {},
                         Caller caller = Caller::Here());

  int64_t size() const;  // The number of examples.
  std::vector<std::string> names() const;
  // Copies of examples, on the host or sent to a device. Throws for an index that is not below size().
  Batch Get(absl::Span<const int64_t> indices, const std::optional<Device>& device = {},
            Caller caller = Caller::Here()) const;

  // For the library: an array in memory, which `owner` keeps alive.
  struct Array {
    std::string name;
    Shape shape;
    const std::byte* bytes = nullptr;
    std::shared_ptr<const void> owner;
    std::string origin;  // The file's name in error messages.
  };
  Dataset(std::vector<Array> arrays, const Caller& caller);

 private:
  std::shared_ptr<const std::vector<Array>> arrays_;
};

struct LoaderOptions {
  int64_t batch_size = 1;
  // Shuffles the examples of each epoch; the order is determined by `seed` and the epoch's number.
  bool shuffle = false;
  uint64_t seed = 0;
  // Leaves out a smaller last batch, for which a program would have to be compiled again.
  bool drop_last = false;
  int64_t prefetch = 2;  // The maximum number of batches that a thread prepares ahead; 0: no thread.
  // The device that batches are copied to; nullopt: they stay on the host.
  std::optional<Device> device = {};
};

// Batches of a dataset. Each begin() starts another epoch. Its thread ends when its iterators are destroyed,
// also when the loop is left early. Errors of the thread are thrown in the loop. The device's client must
// outlive the loop.
class DataLoader {
  class Epoch;

 public:
  // Throws for a batch size below 1 and a prefetch below 0.
  explicit DataLoader(Dataset dataset, LoaderOptions options = {}, Caller caller = Caller::Here());

  int64_t size() const;  // The number of batches per epoch.
  // The number of the epoch that begins next: to go on where an earlier run stopped.
  void SetEpoch(int64_t epoch) { epoch_ = epoch; }

  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    const Batch& operator*() const { return *batch_; }
    const Batch* operator->() const { return &*batch_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch_.has_value(); }

   private:
    friend class DataLoader;
    explicit Iterator(std::shared_ptr<Epoch> epoch);
    std::shared_ptr<Epoch> epoch_;
    std::optional<Batch> batch_;
  };
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

 private:
  Dataset dataset_;
  LoaderOptions options_;
  Caller caller_;
  int64_t epoch_ = 0;
};

}  // namespace hlod::data
