// The attributes that an instruction carries besides shape and operands: one small struct per group of
// opcodes, and one variant of them all. Values are compared and hashed whole, because a module interns them:
// equal attributes have one id.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/hlo/shape.h"

namespace hlod::hlo {

using LiteralId = uint32_t;

// Defines the equality (defaulted) and the hash of a struct, from the tuple of its fields.
#define HLOD_FIELDS(type, ...)                                \
  friend bool operator==(const type&, const type&) = default; \
  template <typename H>                                       \
  friend H AbslHashValue(H h, const type& self) {             \
    return self.HashFields(std::move(h));                     \
  }                                                           \
  template <typename H>                                       \
  H HashFields(H h) const {                                   \
    return H::combine(std::move(h), __VA_ARGS__);             \
  }

struct NoAttributes {
  friend bool operator==(const NoAttributes&, const NoAttributes&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const NoAttributes&) {
    return h;
  }
};

// Attributes of broadcast (operand dimension i -> output dimension), transpose, reverse, reduce, map,
// concatenate, iota, sort, get/set-dimension-size, and reshape (empty, or the inferred dimension).
struct DimensionsAttributes {
  Dims dimensions;
  HLOD_FIELDS(DimensionsAttributes, dimensions)
};
struct SortAttributes {
  int64_t dimension = 0;
  bool is_stable = false;
  HLOD_FIELDS(SortAttributes, dimension, is_stable)
};
// A scan along one dimension of the inputs; the last operands are the carries. is_associative is as on the
// wire: 0 not set, 1 true, 2 false.
struct ScanAttributes {
  int64_t dimension = 0, num_carries = 0;
  bool is_reverse = false;
  uint8_t is_associative = 0;
  HLOD_FIELDS(ScanAttributes, dimension, num_carries, is_reverse, is_associative)
};
struct SliceAttributes {
  Dims start, limit, stride;
  HLOD_FIELDS(SliceAttributes, start, limit, stride)
};
struct DynamicSliceAttributes {
  Dims sizes;
  HLOD_FIELDS(DynamicSliceAttributes, sizes)
};

struct PadDimension {
  int64_t low = 0, high = 0, interior = 0;  // low and high may be negative.
  HLOD_FIELDS(PadDimension, low, high, interior)
};
struct PadAttributes {
  std::vector<PadDimension> dimensions;
  HLOD_FIELDS(PadAttributes, dimensions)
};

struct GatherAttributes {
  Dims offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  Dims slice_sizes;
  bool indices_are_sorted = false;
  HLOD_FIELDS(GatherAttributes, offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims,
              start_indices_batching_dims, index_vector_dim, slice_sizes, indices_are_sorted)
};
struct ScatterAttributes {
  Dims update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims,
      scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false, unique_indices = false;
  HLOD_FIELDS(ScatterAttributes, update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims,
              input_batching_dims, scatter_indices_batching_dims, index_vector_dim, indices_are_sorted,
              unique_indices)
};

// PrecisionConfig with the numbers of XLA's wire format (0 default, 1 high, 2 highest; algorithm 0 unset).
struct Precision {
  absl::InlinedVector<uint8_t, 2> operand;
  uint8_t algorithm = 0;
  HLOD_FIELDS(Precision, operand, algorithm)
};
struct DotAttributes {
  Dims lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  Precision precision;
  HLOD_FIELDS(DotAttributes, lhs_contracting, rhs_contracting, lhs_batch, rhs_batch, precision)
};

// A dot in which groups of rows or columns of lhs and rhs are multiplied separately; an operand holds the
// sizes of the groups. The kind of lhs's ragged dimension decides the result: free (each group of rows is
// multiplied by the group's rhs), contracting (one product per group) or batch (the sizes have no effect).
struct RaggedDotAttributes {
  DotAttributes dot;
  Dims lhs_ragged, rhs_group;
  HLOD_FIELDS(RaggedDotAttributes, dot, lhs_ragged, rhs_group)
};

struct WindowDimension {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0, window_dilation = 1, base_dilation = 1;
  bool reversal = false;
  HLOD_FIELDS(WindowDimension, size, stride, padding_low, padding_high, window_dilation, base_dilation,
              reversal)
};
using Window = std::vector<WindowDimension>;
// Attributes of reduce-window and select-and-scatter.
struct WindowAttributes {
  Window window;
  HLOD_FIELDS(WindowAttributes, window)
};
struct ConvolutionAttributes {
  Window window;  // One entry per spatial dimension.
  int64_t input_batch = 0, input_feature = 0;
  Dims input_spatial;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  Dims kernel_spatial;
  int64_t output_batch = 0, output_feature = 0;
  Dims output_spatial;
  int64_t feature_group_count = 1, batch_group_count = 1;
  Precision precision;
  HLOD_FIELDS(ConvolutionAttributes, window, input_batch, input_feature, input_spatial, kernel_input_feature,
              kernel_output_feature, kernel_spatial, output_batch, output_feature, output_spatial,
              feature_group_count, batch_group_count, precision)
};

enum class ComparisonDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class ComparisonType : uint8_t { kFloat, kTotalOrder, kSigned, kUnsigned };
struct CompareAttributes {
  ComparisonDirection direction = ComparisonDirection::kEq;
  ComparisonType type = ComparisonType::kFloat;
  HLOD_FIELDS(CompareAttributes, direction, type)
};
// The comparison type of a `compare` that does not state one: FLOAT, SIGNED, or UNSIGNED (also for pred).
ComparisonType DefaultComparisonType(PrimitiveType operand);

struct ConstantAttributes {
  LiteralId literal = 0;  // An id in the module's Tables.
  HLOD_FIELDS(ConstantAttributes, literal)
};
struct ParameterAttributes {
  int64_t number = 0;
  HLOD_FIELDS(ParameterAttributes, number)
};
struct TupleIndexAttributes {
  int64_t index = 0;
  HLOD_FIELDS(TupleIndexAttributes, index)
};
struct ReducePrecisionAttributes {
  int32_t exponent_bits = 0, mantissa_bits = 0;
  HLOD_FIELDS(ReducePrecisionAttributes, exponent_bits, mantissa_bits)
};
struct TopKAttributes {
  int64_t k = 0;
  bool largest = true;
  HLOD_FIELDS(TopKAttributes, k, largest)
};
enum class RandomAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };  // XLA's wire numbers.
struct RngBitGeneratorAttributes {
  RandomAlgorithm algorithm = RandomAlgorithm::kDefault;
  HLOD_FIELDS(RngBitGeneratorAttributes, algorithm)
};
enum class RandomDistribution : uint8_t { kInvalid, kUniform, kNormal };  // XLA's wire numbers.
struct RngAttributes {
  RandomDistribution distribution = RandomDistribution::kInvalid;
  HLOD_FIELDS(RngAttributes, distribution)
};
// rng-get-and-update-state: the number that each run adds to the state.
struct RngStateAttributes {
  int64_t delta = 0;
  HLOD_FIELDS(RngStateAttributes, delta)
};
// The accuracy requested from a transcendental function (ResultAccuracy). All zeros mean the default.
struct AccuracyAttributes {
  bool highest = false;
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  HLOD_FIELDS(AccuracyAttributes, highest, atol, rtol, ulps)
};
struct CallAttributes {
  bool is_composite = false;
  HLOD_FIELDS(CallAttributes, is_composite)
};
struct FusionAttributes {
  std::string kind;  // "kLoop", "kInput", "kOutput", "kCustom"
  HLOD_FIELDS(FusionAttributes, kind)
};
struct CustomCallAttributes {
  std::string target;
  std::string backend_config;
  bool has_side_effect = false;
  int32_t api_version = 0;  // CustomCallApiVersion on XLA's wire.
  HLOD_FIELDS(CustomCallAttributes, target, backend_config, has_side_effect, api_version)
};
struct BatchNormAttributes {
  float epsilon = 0;
  int64_t feature_index = 0;
  HLOD_FIELDS(BatchNormAttributes, epsilon, feature_index)
};
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };  // XLA's wire numbers.
struct FftAttributes {
  FftType type = FftType::kFft;
  Dims length;
  HLOD_FIELDS(FftAttributes, type, length)
};
struct CholeskyAttributes {
  bool lower = false;
  HLOD_FIELDS(CholeskyAttributes, lower)
};
struct TriangularSolveAttributes {
  bool left_side = false, lower = false, unit_diagonal = false;
  uint8_t transpose_a = 0;  // XLA's wire numbers: 1 none, 2 transpose, 3 adjoint.
  HLOD_FIELDS(TriangularSolveAttributes, left_side, lower, unit_diagonal, transpose_a)
};

// The groups of devices that act together in a collective, in one of three forms: lists of ids; the ids 0, 1,
// ... reshaped, transposed and cut into `count` groups of `size`; or a mesh. replica_groups.h expands them.
struct ReplicaGroups {
  // The fields of the proto that hold the groups. Writers use different fields, and some write both kinds of
  // list.
  enum class Form : uint8_t { kDeviceList, kList, kBothLists, kDeviceListIota, kIota, kMesh };
  Form form = Form::kDeviceList;
  std::vector<Dims> lists;  // Empty: all devices are one group.
  int64_t count = 0, size = 0;
  Dims reshape, transpose;
  std::string mesh;  // A serialized MeshAxesReplicaGroupListProto.
  HLOD_FIELDS(ReplicaGroups, form, lists, count, size, reshape, transpose, mesh)
};
// Attributes of every collective except permutations. `dimensions` holds the dimension of all-gather,
// reduce-scatter and all-to-all; it is empty for an all-to-all with one operand per participant.
struct CollectiveAttributes {
  ReplicaGroups groups;
  int64_t channel_id = 0;  // 0 for no channel.
  Dims dimensions;
  bool use_global_device_ids = false, constrain_layout = false;
  HLOD_FIELDS(CollectiveAttributes, groups, channel_id, dimensions, use_global_device_ids, constrain_layout)
};
// collective-permute: pairs of source and target.
struct PermuteAttributes {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  int64_t channel_id = 0;
  HLOD_FIELDS(PermuteAttributes, pairs, channel_id)
};
// domain: serialized OpShardings of the input and of the output.
struct DomainAttributes {
  std::string entry_sharding, exit_sharding;
  HLOD_FIELDS(DomainAttributes, entry_sharding, exit_sharding)
};
// Attributes of send, recv, send-done and recv-done.
struct ChannelAttributes {
  int64_t channel_id = 0;
  bool is_host_transfer = false;
  HLOD_FIELDS(ChannelAttributes, channel_id, is_host_transfer)
};
struct InfeedAttributes {
  std::string config;
  HLOD_FIELDS(InfeedAttributes, config)
};
struct OutfeedAttributes {
  std::string config;
  Shape shape;  // The shape of the value sent, with the host's layout.
  HLOD_FIELDS(OutfeedAttributes, config, shape)
};

using Attributes =
    std::variant<NoAttributes, DimensionsAttributes, SortAttributes, SliceAttributes, DynamicSliceAttributes,
                 PadAttributes, GatherAttributes, ScatterAttributes, DotAttributes, WindowAttributes,
                 ConvolutionAttributes, CompareAttributes, ConstantAttributes, ParameterAttributes,
                 TupleIndexAttributes, ReducePrecisionAttributes, TopKAttributes, RngBitGeneratorAttributes,
                 RngAttributes, AccuracyAttributes, CallAttributes, FusionAttributes, CustomCallAttributes,
                 BatchNormAttributes, FftAttributes, CholeskyAttributes, TriangularSolveAttributes,
                 ScanAttributes, RaggedDotAttributes, RngStateAttributes, CollectiveAttributes,
                 PermuteAttributes, DomainAttributes, ChannelAttributes, InfeedAttributes, OutfeedAttributes>;

}  // namespace hlod::hlo
