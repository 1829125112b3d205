// The shared tables of tracing: callees by content, source lines, numbers that vary.
#include "client/tensor/trace/trace_tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/lowering.h"
#include "common/base/text/strings.h"
#include "common/hlo/instruction_cloner.h"
#include "xxhash.h"

namespace hlod::lazy {
namespace {

uint64_t Key(const Caller& caller, const void* operation) {
  // Files and operations are string literals, so an address identifies one; a literal with two addresses only
  // costs a second row.
  const uint64_t fields[] = {reinterpret_cast<uint64_t>(caller.file), static_cast<uint64_t>(caller.line),
                             reinterpret_cast<uint64_t>(operation)};
  uint64_t key = 0;
  for (const uint64_t field : fields) key = (key ^ field) * 0x9e3779b97f4a7c15u, key ^= key >> 29;
  return key;
}

uint64_t HashWords(absl::Span<const uint32_t> words) {
  return XXH3_64bits(words.data(), words.size() * sizeof(uint32_t));
}

// Returns true when the notes that transforms use are the same.
bool SameNotes(const hlo::Computation& a, const hlo::Computation& b) {
  static const hlo::Notes kNone;
  for (hlo::NodeId node = 0; node < a.size(); ++node) {
    const hlo::Notes *x = a.notes(node), *y = b.notes(node);
    const hlo::Notes &left = x != nullptr ? *x : kNone, &right = y != nullptr ? *y : kNone;
    if (left.frontend_attributes != right.frontend_attributes || left.sharding != right.sharding)
      return false;
  }
  return true;
}

}  // namespace

TraceTables& TraceTables::Get() {
  // Never destroyed, because tensors of static storage outlive destructors.
  static TraceTables* const tracer = new TraceTables;
  return *tracer;
}

TraceTables::TraceTables() : callees_(std::make_unique<hlo::Module>("callees")) { origins_.push_back({}); }

hlo::ComputationId TraceTables::Reducer(hlo::Opcode opcode, hlo::PrimitiveType type) {
  const uint32_t key = static_cast<uint32_t>(opcode) << 8 | static_cast<uint32_t>(type);
  const auto [found, added] = reducers_.try_emplace(key);
  if (added) found->second = hlo::AddScalarReducer(*callees_, opcode, type);
  return found->second;
}

hlo::ComputationId TraceTables::Callee(std::string_view name,
                                       absl::FunctionRef<hlo::Op(hlo::Builder&)> build) {
  hlo::Computation candidate(tables(), std::string(name));
  hlo::Builder builder(*callees_, candidate);
  const hlo::Op root = build(builder);
  if (absl::Status built = builder.Build(root); !built.ok()) throw Refusal{built};
  return Callee(candidate);
}

hlo::ComputationId TraceTables::Callee(const hlo::Computation& candidate) {
  const uint64_t hash = HashWords(candidate.words()) ^ candidate.root_id();
  std::vector<hlo::ComputationId>& same = callees_by_hash_[hash];
  for (const hlo::ComputationId id : same) {
    const hlo::Computation& known = callees_->computation(id);
    if (known.root_id() == candidate.root_id() && known.words() == candidate.words() &&
        SameNotes(known, candidate)) {
      return id;
    }
  }
  hlo::Computation& added =
      callees_->AddComputation(absl::StrCat(candidate.name(), ".", callees_->computation_count()));
  hlo::InstructionCloner(candidate, added).CloneAll();
  same.push_back(callees_->computation_count() - 1);
  return same.back();
}

uint32_t TraceTables::InternOrigin(const Caller& caller, const char* operation) {
  const uint64_t key = Key(caller, operation);
  auto& recent = recent_origins_[key % recent_origins_.size()];
  if (recent.first == key && recent.second != 0) return recent.second;
  const auto [found, added] = origin_ids_.try_emplace(key, static_cast<uint32_t>(origins_.size()));
  if (added) origins_.push_back({caller, operation});
  recent = {key, found->second};
  return found->second;
}

bool TraceTables::Varies(uint64_t site, const Scalar& value) {
  const auto [found, added] = sites_.try_emplace(site, Site{value});
  if (!added && !(found->second.first == value)) found->second.varied = true;
  return found->second.varied;
}

bool TraceTables::SettingVaries(const Caller& caller, const char* name, const Scalar& value) {
  return Varies(Key(caller, name), value);
}

bool TraceTables::IndexVaries(const Caller& caller, int64_t index) {
  static constexpr char kIndex = 0;  // Distinguishes indices from the numbers of the line.
  return Varies(Key(caller, &kIndex), index);
}

bool TraceTables::StartVaries(const Caller& caller, uint64_t trace, int64_t start) {
  static constexpr char kStart = 0;
  return StartVaries(Key(caller, &kStart), trace, start);
}

bool TraceTables::ShiftVaries(const Caller& caller, uint64_t trace, int64_t shift) {
  static constexpr char kShift = 0;
  return StartVaries(Key(caller, &kShift), trace, shift);
}

bool TraceTables::StartVaries(uint64_t key, uint64_t trace, int64_t start) {
  static constexpr size_t kStarts = 1024;  // The maximum number of starts per line that are recorded.
  StartSite& site = start_sites_[key];
  if (site.trace != trace) {
    site.is_first = site.trace == 0;
    site.trace = trace;
    site.next = 0;
  }
  if (site.next < site.starts.size()) site.varied |= site.starts[site.next] != start;
  else if (site.is_first && site.next < kStarts) site.starts.push_back(start);
  ++site.next;
  return site.varied;
}

bool TraceTables::IsParameter(const Caller& caller, const Scalar& value) {
  if (Varies(Key(caller, nullptr), value)) return true;
  return !(value == Scalar(0) || value == Scalar(1) || value == Scalar(-1) || value == Scalar(0.0) ||
           value == Scalar(1.0) || value == Scalar(-1.0) || value.is_bool());
}

hlo::AttributesId TraceTables::ParameterNumber(uint32_t number) {
  while (parameter_numbers_.size() <= number) {
    const auto next = static_cast<int64_t>(parameter_numbers_.size());
    parameter_numbers_.push_back(tables()->Intern(hlo::Attributes(hlo::ParameterAttributes{next})));
  }
  return parameter_numbers_[number];
}

}  // namespace hlod::lazy
