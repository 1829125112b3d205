// Coders of opcodes that move, make and order data: dimensions, slices, pads, gathers, literals, tuples.
#pragma once

#include "common/hlo/proto/coder.h"

namespace hlod::hlo::codec {

inline Status RequireOneDimension(In in) {
  if (in.proto.dimensions_size() == 1) return OkStatus();
  return InvalidArgument("dimensions has %d entries instead of one", in.proto.dimensions_size());
}

template <>
struct Coder<NoAttributes> {
  static constexpr std::array<int, 0> kFields{};
  static Status Decode(In, NoAttributes&) { return OkStatus(); }
  static void Encode(const NoAttributes&, const Tables&, Proto&) {}
};

template <>
struct Coder<DimensionsAttributes> {
  static constexpr std::array kFields{Proto::kDimensionsFieldNumber};
  static Status Decode(In in, DimensionsAttributes& out) {
    const bool one = in.opcode == kIota || in.opcode == kConcatenate || in.opcode == kGetDimensionSize ||
                     in.opcode == kSetDimensionSize;
    if (one) RETURN_IF_ERROR(RequireOneDimension(in));
    out.dimensions = Read(in.proto.dimensions());
    return OkStatus();
  }
  static void Encode(const DimensionsAttributes& a, const Tables&, Proto& p) {
    Write(a.dimensions, p.mutable_dimensions());
  }
};

template <>
struct Coder<SortAttributes> {
  static constexpr std::array kFields{Proto::kDimensionsFieldNumber, Proto::kIsStableFieldNumber};
  static Status Decode(In in, SortAttributes& out) {
    RETURN_IF_ERROR(RequireOneDimension(in));
    out = {in.proto.dimensions(0), in.proto.is_stable()};
    return OkStatus();
  }
  static void Encode(const SortAttributes& a, const Tables&, Proto& p) {
    p.add_dimensions(a.dimension);
    p.set_is_stable(a.is_stable);
  }
};

template <>
struct Coder<ScanAttributes> {
  static constexpr std::array kFields{Proto::kDimensionsFieldNumber, Proto::kIsReverseFieldNumber,
                                      Proto::kNumCarriesFieldNumber, Proto::kIsAssociativeFieldNumber};
  static Status Decode(In in, ScanAttributes& out) {
    RETURN_IF_ERROR(RequireOneDimension(in));
    // A count of 0 means half the operands.
    const int64_t carries =
        in.proto.num_carries() != 0 ? in.proto.num_carries() : in.proto.operand_ids_size() / 2;
    out = {in.proto.dimensions(0), carries, in.proto.is_reverse(),
           static_cast<uint8_t>(in.proto.is_associative() & 3)};
    return OkStatus();
  }
  static void Encode(const ScanAttributes& a, const Tables&, Proto& p) {
    p.add_dimensions(a.dimension);
    p.set_num_carries(a.num_carries);
    p.set_is_reverse(a.is_reverse);
    p.set_is_associative(static_cast<xla::TriState>(a.is_associative));
  }
};

template <>
struct Coder<SliceAttributes> {
  static constexpr std::array kFields{Proto::kSliceDimensionsFieldNumber};
  static Status Decode(In in, SliceAttributes& out) {
    for (const auto& d : in.proto.slice_dimensions()) {
      out.start.push_back(d.start());
      out.limit.push_back(d.limit());
      out.stride.push_back(d.stride());
    }
    return OkStatus();
  }
  static void Encode(const SliceAttributes& a, const Tables&, Proto& p) {
    for (size_t i = 0; i < a.start.size(); ++i) {
      auto* d = ElementAt(p.mutable_slice_dimensions(), i);
      d->set_start(a.start[i]);
      d->set_limit(a.limit[i]);
      d->set_stride(a.stride[i]);
    }
  }
};

template <>
struct Coder<DynamicSliceAttributes> {
  static constexpr std::array kFields{Proto::kDynamicSliceSizesFieldNumber};
  static Status Decode(In in, DynamicSliceAttributes& out) {
    out.sizes = Read(in.proto.dynamic_slice_sizes());
    return OkStatus();
  }
  static void Encode(const DynamicSliceAttributes& a, const Tables&, Proto& p) {
    Write(a.sizes, p.mutable_dynamic_slice_sizes());
  }
};

template <>
struct Coder<PadAttributes> {
  static constexpr std::array kFields{Proto::kPaddingConfigFieldNumber};
  static Status Decode(In in, PadAttributes& out) {
    for (const auto& d : in.proto.padding_config().dimensions()) {
      out.dimensions.push_back({d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
    }
    return OkStatus();
  }
  static void Encode(const PadAttributes& a, const Tables&, Proto& p) {
    for (size_t i = 0; i < a.dimensions.size(); ++i) {
      auto* d = ElementAt(p.mutable_padding_config()->mutable_dimensions(), i);
      d->set_edge_padding_low(a.dimensions[i].low);
      d->set_edge_padding_high(a.dimensions[i].high);
      d->set_interior_padding(a.dimensions[i].interior);
    }
  }
};

template <>
struct Coder<GatherAttributes> {
  static constexpr std::array kFields{Proto::kGatherDimensionNumbersFieldNumber,
                                      Proto::kGatherSliceSizesFieldNumber,
                                      Proto::kIndicesAreSortedFieldNumber};
  static Status Decode(In in, GatherAttributes& out) {
    const auto& d = in.proto.gather_dimension_numbers();
    out.offset_dims = Read(d.offset_dims());
    out.collapsed_slice_dims = Read(d.collapsed_slice_dims());
    out.start_index_map = Read(d.start_index_map());
    out.operand_batching_dims = Read(d.operand_batching_dims());
    out.start_indices_batching_dims = Read(d.start_indices_batching_dims());
    out.index_vector_dim = d.index_vector_dim();
    out.slice_sizes = Read(in.proto.gather_slice_sizes());
    out.indices_are_sorted = in.proto.indices_are_sorted();
    return OkStatus();
  }
  static void Encode(const GatherAttributes& a, const Tables&, Proto& p) {
    auto& d = *p.mutable_gather_dimension_numbers();
    Write(a.offset_dims, d.mutable_offset_dims());
    Write(a.collapsed_slice_dims, d.mutable_collapsed_slice_dims());
    Write(a.start_index_map, d.mutable_start_index_map());
    Write(a.operand_batching_dims, d.mutable_operand_batching_dims());
    Write(a.start_indices_batching_dims, d.mutable_start_indices_batching_dims());
    d.set_index_vector_dim(a.index_vector_dim);
    Write(a.slice_sizes, p.mutable_gather_slice_sizes());
    p.set_indices_are_sorted(a.indices_are_sorted);
  }
};

template <>
struct Coder<ScatterAttributes> {
  static constexpr std::array kFields{Proto::kScatterDimensionNumbersFieldNumber,
                                      Proto::kIndicesAreSortedFieldNumber, Proto::kUniqueIndicesFieldNumber};
  static Status Decode(In in, ScatterAttributes& out) {
    const auto& d = in.proto.scatter_dimension_numbers();
    out.update_window_dims = Read(d.update_window_dims());
    out.inserted_window_dims = Read(d.inserted_window_dims());
    out.scatter_dims_to_operand_dims = Read(d.scatter_dims_to_operand_dims());
    out.input_batching_dims = Read(d.input_batching_dims());
    out.scatter_indices_batching_dims = Read(d.scatter_indices_batching_dims());
    out.index_vector_dim = d.index_vector_dim();
    out.indices_are_sorted = in.proto.indices_are_sorted();
    out.unique_indices = in.proto.unique_indices();
    return OkStatus();
  }
  static void Encode(const ScatterAttributes& a, const Tables&, Proto& p) {
    auto& d = *p.mutable_scatter_dimension_numbers();
    Write(a.update_window_dims, d.mutable_update_window_dims());
    Write(a.inserted_window_dims, d.mutable_inserted_window_dims());
    Write(a.scatter_dims_to_operand_dims, d.mutable_scatter_dims_to_operand_dims());
    Write(a.input_batching_dims, d.mutable_input_batching_dims());
    Write(a.scatter_indices_batching_dims, d.mutable_scatter_indices_batching_dims());
    d.set_index_vector_dim(a.index_vector_dim);
    p.set_indices_are_sorted(a.indices_are_sorted);
    p.set_unique_indices(a.unique_indices);
  }
};

template <>
struct Coder<ConstantAttributes> {
  static constexpr std::array kFields{Proto::kLiteralFieldNumber};
  static Status Decode(In in, ConstantAttributes& out) {
    if (!in.proto.has_literal()) return InvalidArgument("the literal is missing");
    ASSIGN_OR_RETURN(Literal literal, FromProto(in.proto.literal(), in.options.literal_bytes_max));
    ASSIGN_OR_RETURN(const Shape shape, FromProto(in.proto.shape()));
    if (!Compatible(literal.shape(), shape)) {
      return InvalidArgument("the literal has shape %s, the instruction %s", ToString(literal.shape()),
                             ToString(shape));
    }
    out.literal = in.tables.Intern(std::make_shared<const Literal>(std::move(literal)));
    return OkStatus();
  }
  static void Encode(const ConstantAttributes& a, const Tables& tables, Proto& p) {
    EncodeLiteral(tables.literal(a.literal), p.mutable_literal());
  }
};

template <>
struct Coder<ParameterAttributes> {
  static constexpr std::array kFields{Proto::kParameterNumberFieldNumber};
  static Status Decode(In in, ParameterAttributes& out) {
    out.number = in.proto.parameter_number();
    return OkStatus();
  }
  static void Encode(const ParameterAttributes& a, const Tables&, Proto& p) {
    p.set_parameter_number(a.number);
  }
};

template <>
struct Coder<TupleIndexAttributes> {
  static constexpr std::array kFields{Proto::kTupleIndexFieldNumber};
  static Status Decode(In in, TupleIndexAttributes& out) {
    out.index = in.proto.tuple_index();
    return OkStatus();
  }
  static void Encode(const TupleIndexAttributes& a, const Tables&, Proto& p) { p.set_tuple_index(a.index); }
};

template <>
struct Coder<TopKAttributes> {
  static constexpr std::array kFields{Proto::kKFieldNumber, Proto::kLargestFieldNumber};
  static Status Decode(In in, TopKAttributes& out) {
    out = {in.proto.k(), in.proto.largest()};
    return OkStatus();
  }
  static void Encode(const TopKAttributes& a, const Tables&, Proto& p) {
    p.set_k(a.k);
    p.set_largest(a.largest);
  }
};

}  // namespace hlod::hlo::codec
