// The extension about layouts.
#include "client/pjrt/extensions/extensions.h"

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/memory_layout.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/programs/bytes.h"
#include "client/pjrt/programs/executable.h"

namespace hlod::pjrt {
namespace {

absl::Status DestroyLayout(abi::Layouts_Destroy_Args& args) {
  delete args.layout;
  return absl::OkStatus();
}

absl::Status SerializeLayout(abi::Layouts_Serialize_Args& args) {
  RETURN_IF_ERROR(Given(args.layout, "layout"));
  ReturnBytes(args.layout->text(), &args.serialized_bytes, &args.serialized_bytes_size,
              &args.serialized_layout, &args.serialized_layout_deleter);
  return absl::OkStatus();
}

absl::Status LayoutOfBuffer(abi::Layouts_OfBuffer_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.layout = new MemoryLayout(args.buffer->minor_to_major());
  return absl::OkStatus();
}

template <typename Arguments>
absl::Status DefaultLayout(Arguments& args) {
  args.layout = new MemoryLayout(RowMajorOrder(args.num_dims));
  return absl::OkStatus();
}

absl::Status LayoutsOfOutputs(abi::Layouts_OfProgram_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.layouts = args.executable->output_layouts().data();
  args.num_layouts = args.executable->output_layouts().size();
  return absl::OkStatus();
}

absl::Status LayoutsOfParameters(abi::Layouts_OfProgram_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.layouts = args.executable->parameter_layouts().data();
  args.num_layouts = args.executable->parameter_layouts().size();
  return absl::OkStatus();
}

}  // namespace

abi::Extension& LayoutsExtension() {
  static abi::LayoutsExtension extension = {
      .base = {sizeof(abi::LayoutsExtension), abi::kLayouts, nullptr},
      .destroy = HLOD_PJRT_CALL("PJRT_Layouts_MemoryLayout_Destroy", DestroyLayout),
      .serialize = HLOD_PJRT_CALL("PJRT_Layouts_MemoryLayout_Serialize", SerializeLayout),
      .client_default = HLOD_PJRT_CALL("PJRT_Layouts_Client_GetDefaultLayout", DefaultLayout),
      .of_buffer = HLOD_PJRT_CALL("PJRT_Layouts_Buffer_MemoryLayout", LayoutOfBuffer),
      .topology_default = HLOD_PJRT_CALL("PJRT_Layouts_Topology_GetDefaultLayout", DefaultLayout),
      .of_outputs = HLOD_PJRT_CALL("PJRT_Layouts_Executable_GetOutputLayouts", LayoutsOfOutputs),
      .of_parameters = HLOD_PJRT_CALL("PJRT_Layouts_Executable_GetParameterLayouts", LayoutsOfParameters),
  };
  return extension.base;
}

}  // namespace hlod::pjrt
