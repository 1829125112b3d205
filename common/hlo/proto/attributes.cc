// The table of coders, one per alternative of Attributes; the opcode's row names the alternative.
#include "common/hlo/proto/coders_compute.h"
#include "common/hlo/proto/coders_data.h"
#include "common/hlo/proto/coders_devices.h"

namespace hlod::hlo::codec {
namespace {

struct Row {
  absl::StatusOr<Attributes> (*decode)(In);
  FieldSet fields;
};

template <typename T>
Row RowOf() {
  Row row;
  row.decode = [](In in) -> absl::StatusOr<Attributes> {
    T value;
    RETURN_IF_ERROR(Coder<T>::Decode(in, value));
    return Attributes(std::move(value));
  };
  for (int number : Coder<T>::kFields) row.fields.set(number);
  return row;
}

constexpr size_t kAlternatives = std::variant_size_v<Attributes>;

template <size_t... I>
std::array<Row, kAlternatives> MakeRows(std::index_sequence<I...>) {
  return {RowOf<std::variant_alternative_t<I, Attributes>>()...};
}

const Row& RowFor(Opcode opcode) {
  static const auto* const rows =
      new std::array<Row, kAlternatives>(MakeRows(std::make_index_sequence<kAlternatives>()));
  return (*rows)[Info(opcode).attributes];
}

}  // namespace

absl::StatusOr<Attributes> DecodeAttributes(In input) { return RowFor(input.opcode).decode(input); }

void EncodeAttributes(const Attributes& attributes, const Tables& tables, Proto* proto) {
  std::visit([&]<typename T>(const T& value) { Coder<T>::Encode(value, tables, *proto); }, attributes);
}

const FieldSet& ModelledFields(Opcode opcode) { return RowFor(opcode).fields; }

}  // namespace hlod::hlo::codec
