// The entry that reads a buffer's bytes as those of another array.
//
// The daemon runs a program of one bitcast: there is no other way to name a buffer's bytes.
#include <memory>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/shape_from.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "common/hlo/builder.h"

namespace hlod::pjrt {
namespace {

using hlo::Op;
using hlo::Shape;

absl::Status BuildBitcast(hlo::Module& module, const Shape& from, const Shape& to) {
  hlo::Builder b(module, "main");
  const auto dense = [](const Shape& shape) {
    Shape laid_out = shape;
    laid_out.layout = hlo::Layout::RowMajor(static_cast<int64_t>(shape.dims.size()));
    return laid_out;
  };
  const Op x = b.Parameter(0, dense(from));
  const Shape result = dense(to);
  RETURN_IF_ERROR(b.Build(b.Add(hlo::kBitcast, {x}, hlo::NoAttributes(), {}, &result)));
  module.set_entry(b.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status Serve(abi::Buffer_Bitcast_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  const Buffer& buffer = *args.buffer;
  ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(args.element_type, args.dims, args.num_dims));
  ASSIGN_OR_RETURN(DimensionOrder order, OrderFrom(args.device_layout, shape));
  ASSIGN_OR_RETURN(const hlod::Buffer value, buffer.value());
  if (!shape.IsArray() || !buffer.shape().IsArray() ||
      hlo::ByteSize(shape).value_or(0) != hlo::ByteSize(buffer.shape()).value_or(0)) {
    return InvalidArgument("A buffer of %s cannot be read as %s: their sizes differ.",
                           hlo::ToStringNoLayout(buffer.shape()), hlo::ToStringNoLayout(shape));
  }
  for (const hlo::PrimitiveType type : {shape.type, buffer.shape().type}) {
    if (hlo::Info(type).bits < 8)
      return Unimplemented(
          "Elements of less than a byte have one each in the daemon: their bytes are not those of XLA.");
  }
  hlo::Module module("bitcast");
  RETURN_IF_ERROR(BuildBitcast(module, buffer.shape(), shape));
  ASSIGN_OR_RETURN(const hlod::Executable program,
                   buffer.client().runtime().Compile(module, {}, CurrentLine()));
  ASSIGN_OR_RETURN(std::vector<hlod::Buffer> results, program.Execute({value}, {}, CurrentLine()));
  args.out_buffer = new Buffer(buffer.memory(), results[0], /*end=*/nullptr, std::move(order));
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
