// Wraps oneDNN primitives in an interface that suits steps.
#include "server/engine/contraction/onednn.h"
#include "server/engine/contraction/subnormals.h"

#include <omp.h>

#include "common/base/errors/status.h"
#include "server/engine/run/team.h"

namespace hlod::engine {
namespace {

constexpr int kSlots = 2;  // The number of concurrent runs of one primitive that do not need an allocation.

thread_local int library_depth = 0;

// All CPU streams are equal, and hold no state of a run.
dnnl_stream_t OneDnnStream() {
  static const dnnl::stream stream(OneDnnEngine());
  return stream.get();
}

}  // namespace

const dnnl::engine& OneDnnEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::optional<dnnl::memory::data_type> OneDnnType(hlo::PrimitiveType type) {
  using Type = dnnl::memory::data_type;
  switch (type) {
    case hlo::kF32: return Type::f32;
    case hlo::kBF16: return Type::bf16;
    case hlo::kS32: return Type::s32;
    case hlo::kS8: return Type::s8;
    case hlo::kU8: return Type::u8;
    default: return std::nullopt;
  }
}

dnnl::memory::desc OneDnnDesc(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides,
                              dnnl::memory::data_type type) {
  return dnnl::memory::desc(dnnl::memory::dims(dims.begin(), dims.end()), type,
                            dnnl::memory::dims(strides.begin(), strides.end()));
}

dnnl::primitive_attr OneDnnAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

bool OneDnnHas(dnnl::cpu_isa set) {
  const auto bits = static_cast<unsigned>(set);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

bool InsideOneDnn() { return library_depth > 0; }

ScopedTeam::ScopedTeam(int threads) : before_(omp_get_max_threads()) {
  if (threads != before_) omp_set_num_threads(threads);
}
ScopedTeam::~ScopedTeam() {
  if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
}

OneDnnPrimitive::OneDnnPrimitive(dnnl::primitive primitive, std::vector<Argument> arguments,
                                 const dnnl::memory::desc& scratch, int threads, std::string implementation)
    : primitive_(std::move(primitive)),
      arguments_(std::move(arguments)),
      scratch_bytes_(static_cast<int64_t>(scratch.get_size())),
      threads_(threads),
      implementation_(std::move(implementation)) {
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratch});
  for (int i = 0; i < kSlots; ++i) slots_.push_back(MakeSlot());
  OneDnnStream();
}

std::unique_ptr<OneDnnPrimitive::Slot> OneDnnPrimitive::MakeSlot() const {
  auto slot = std::make_unique<Slot>();
  for (const Argument& argument : arguments_) {
    slot->memories.emplace_back(argument.desc, OneDnnEngine(), static_cast<void*>(nullptr));
    slot->args.push_back({argument.index, slot->memories.back().get()});
  }
  return slot;
}

absl::Status OneDnnPrimitive::RunSlot(Slot& slot, absl::Span<std::byte* const> pointers,
                                      std::byte* scratch) const {
  ScopedTeam team(threads_);
  const WithoutSubnormals zeros;
  ++library_depth;
  dnnl_status_t status = dnnl_success;
  for (size_t i = 0; i < slot.args.size() && status == dnnl_success; ++i) {
    std::byte* pointer = i < pointers.size() ? pointers[i] : scratch;
    status = dnnl_memory_set_data_handle_v2(slot.args[i].memory, pointer, OneDnnStream());
  }
  if (status == dnnl_success) {
    status = dnnl_primitive_execute(primitive_.get(), OneDnnStream(), static_cast<int>(slot.args.size()),
                                    slot.args.data());
  }
  --library_depth;
  if (status != dnnl_success)
    return Internal("oneDNN %s failed with status %d", implementation_, static_cast<int>(status));
  return absl::OkStatus();
}

absl::Status OneDnnPrimitive::Run(absl::Span<std::byte* const> pointers, std::byte* scratch) const {
  if (TeamOfThisThread(threads_) == threads_) return RunHere(pointers, scratch);
  absl::Status status;
  RunWithTeam(threads_, [&] { status = RunHere(pointers, scratch); });
  return status;
}

absl::Status OneDnnPrimitive::RunHere(absl::Span<std::byte* const> pointers, std::byte* scratch) const {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->busy.test_and_set(std::memory_order_acquire)) continue;
    absl::Status status = RunSlot(*slot, pointers, scratch);
    slot->busy.clear(std::memory_order_release);
    return status;
  }
  // There are more concurrent runs than sets, so this run makes its own.
  try {
    return RunSlot(*MakeSlot(), pointers, scratch);
  } catch (const dnnl::error& error) {
    return Internal("oneDNN %s: %s", implementation_, error.what());
  }
}

}  // namespace hlod::engine
