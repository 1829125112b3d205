// Meshes: devices arranged in a grid whose axes have names, and how arrays are divided along these axes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hlod {

// A grid of devices: jax.sharding.Mesh, torch_xla.distributed.spmd.Mesh. Its devices are counted along the
// last axis first: in Mesh({{"data", 2}, {"model", 4}}), device 5 is the second along data, and the second
// along model.
class Mesh {
 public:
  using Axis = std::pair<std::string, int64_t>;

  // Has no axes. Where a program is compiled, it stands for the mesh of the program's own shardings.
  Mesh() = default;
  // `devices` are the ordinals of the devices in the mesh's order; empty: 0, 1, ... A mesh that contradicts
  // itself is refused where it is used (status()).
  explicit Mesh(std::vector<Axis> axes, std::vector<int> devices = {});
  // Parses "data=4,model=2". INVALID_ARGUMENT names the malformed axis.
  static absl::StatusOr<Mesh> Parse(std::string_view text);

  const std::vector<Axis>& axes() const { return axes_; }
  bool empty() const { return axes_.empty(); }
  // The ordinals of the devices.
  const std::vector<int>& devices() const { return devices_; }
  int64_t device_count() const { return static_cast<int64_t>(devices_.size()); }
  // Returns the size of an axis; nullopt when the mesh has none of that name.
  std::optional<int64_t> size(std::string_view axis) const;
  // OK, or INVALID_ARGUMENT: an axis without a name or devices, or that occurs twice; a device that occurs
  // twice; devices and axes that differ in number; more than 4096 devices.
  const absl::Status& status() const { return status_; }
  // "data=4,model=2"
  std::string ToString() const;
  friend bool operator==(const Mesh& a, const Mesh& b) {
    return a.axes_ == b.axes_ && a.devices_ == b.devices_;
  }

 private:
  std::vector<Axis> axes_;
  std::vector<int> devices_;
  absl::Status status_;
};

// The axes that divide an array, per dimension: an axis, nullopt for a dimension that is whole, or several
// axes of which the first is the slowest: PartitionSpec({"data", std::nullopt, {"model", "pipe"}}).
class PartitionSpec {
 public:
  // The axes that divide one dimension.
  class Entry {
   public:
    Entry(std::nullopt_t) {}                             // NOLINT: implicit on purpose.
    Entry(const char* axis) : axes_{axis} {}             // NOLINT
    Entry(std::string axis) : axes_{std::move(axis)} {}  // NOLINT
    Entry(std::initializer_list<const char*> axes) : axes_(axes.begin(), axes.end()) {}
    explicit Entry(std::vector<std::string> axes) : axes_(std::move(axes)) {}
    const std::vector<std::string>& axes() const { return axes_; }
    friend bool operator==(const Entry&, const Entry&) = default;

   private:
    std::vector<std::string> axes_;
  };

  PartitionSpec() = default;  // For a scalar.
  PartitionSpec(std::initializer_list<Entry> entries) : entries_(entries) {}
  explicit PartitionSpec(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  const std::vector<Entry>& entries() const { return entries_; }
  // ("data", None, ("model", "pipe"))
  std::string ToString() const;
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;

 private:
  std::vector<Entry> entries_;
};

// Returns the sharding of an array of `rank` dimensions as HLO writes it: "{devices=[2,1,4]<=[8]
// last_tile_dim_replicate}". INVALID_ARGUMENT when the spec has another number of dimensions, or names an
// axis that the mesh does not have, or one twice.
absl::StatusOr<std::string> ShardingOf(const Mesh& mesh, const PartitionSpec& spec, size_t rank);

}  // namespace hlod
