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

// Tensors by name. Example i of a batch is row i of each.
using Batch = nn::StateDict;

// An array that is made of a CSV file's columns: a vector of one, [examples, columns] of several.
struct CsvArray {
  std::string name;
  std::vector<std::string> columns;
  PrimitiveType type = kF32;  // f32, f64, s32 or s64.
};
struct CsvOptions {
  std::vector<CsvArray> arrays = {};  // Absent: every column as f32, under its own name.
  char delimiter = ',';
  bool header = true;  // The first line names the columns; without it they are "0", "1", ...
};

// Arrays of one first size by name, on the host: example i is row i of each. Cheap to copy, and used by
// several threads at once. Throws, as what makes one does, for arrays without a first size and where sizes
// differ; errors of files name the file, and of CSV its line and column.
class Dataset {
 public:
  static Dataset FromTensors(const Batch& tensors, Caller caller = Caller::Here());
  // numpy.savez's arrays, read and inflated at once.
  static Dataset FromNpz(const std::string& path, Caller caller = Caller::Here());
  // numpy.save's, by the name to give each. They are mapped: rows are read when they are asked for, so that
  // the files may be larger than memory and must stay as they are. Row-major ones only.
  static Dataset FromNpy(const std::map<std::string, std::string>& paths, Caller caller = Caller::Here());
  // Numbers with one header line (RFC 4180; fields do not go over lines), read at once.
  static Dataset FromCsv(const std::string& path, const CsvOptions& options = {},
                         Caller caller = Caller::Here());

  int64_t size() const;  // Examples.
  std::vector<std::string> names() const;
  // Copies of examples, on the host or sent to a device. Throws for an index that is not below size().
  Batch Get(absl::Span<const int64_t> indices, const std::optional<Device>& device = {},
            Caller caller = Caller::Here()) const;

  // For the library: an array in memory that `owner` keeps.
  struct Array {
    std::string name;
    Shape shape;
    const std::byte* bytes = nullptr;
    std::shared_ptr<const void> owner;
    std::string origin;  // The file, for messages.
  };
  Dataset(std::vector<Array> arrays, const Caller& caller);

 private:
  std::shared_ptr<const std::vector<Array>> arrays_;
};

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;  // Every epoch in an order of its own, which follows from `seed` and its number.
  uint64_t seed = 0;
  bool drop_last = false;  // Leaves a smaller last batch out, for which programs would compile again.
  int64_t prefetch = 2;    // Batches that wait, at most, made by a thread; with 0 there is none.
  std::optional<Device> device = {};  // Where batches are; absent: on the host.
};

// Batches of a dataset. Each begin() is another epoch, whose thread ends with its iterators: when the loop is
// left. What fails in the thread is thrown in the loop. The device's client outlives the loop.
class DataLoader {
  class Epoch;

 public:
  // Throws for a batch size below 1 and a prefetch below 0.
  explicit DataLoader(Dataset dataset, LoaderOptions options = {}, Caller caller = Caller::Here());

  int64_t size() const;  // Batches per epoch.
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
