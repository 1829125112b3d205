// Reads operations one after the other, with the regions nested in them.
#include "client/import/bytecode/regions.h"

#include "absl/strings/str_cat.h"
#include "client/import/bytecode/attributes.h"
#include "client/import/bytecode/locations.h"
#include "client/import/bytecode/operations.h"
#include "client/import/bytecode/types.h"
#include "client/import/bytecode/values.h"

namespace hlod::stablehlo::bytecode {
namespace {

constexpr int64_t kMaxOperations = 1 << 24;

// The parts of an operation, by the bits of its second byte.
enum Part : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 0x10,
  kHasUseListOrders = 0x20,
  kHasProperties = 0x40,
};

class RegionReader {
 public:
  explicit RegionReader(Source& source) : source_(source) {}

  // Adds the operations of a block to `block`. Their number, and a flag for arguments, come first.
  absl::Status ReadBlock(Stream& in, std::string_view parent, Block& block);
  Values& values() { return values_; }

 private:
  // Returns the row of the next operation. Returns an error when hlod does not know it.
  absl::StatusOr<const OperationRow*> ReadName(Stream& in);
  // Reads an operation and adds it to `operations` unless it is a cast, whose results are its operands.
  absl::Status ReadOperation(Stream& in, std::string_view parent, std::vector<Operation>& operations);
  absl::Status ReadProperties(const OperationRow& row, Stream& in, Operation& operation);
  absl::Status ReadOperands(Stream& in, Operation& operation);
  // Defines a new value of the innermost region.
  absl::StatusOr<Value> Define(const Stream& at, const TypeEntry* type);
  // Defines the results of a cast, which does not change values, as its operands.
  absl::Status DefineCast(const Stream& at, const Operation& cast,
                          const std::vector<const TypeEntry*>& types);
  absl::Status SkipUseListOrders(Stream& in, size_t values);
  absl::Status ReadRegions(Stream& in, Operation& operation);
  absl::Status ReadRegion(Stream& in, std::string_view parent, bool is_isolated, Region& region);
  absl::Status ReadArguments(Stream& in, Block& block);

  Source& source_;
  Values values_;
  int64_t operations_ = 0;
};

absl::StatusOr<const OperationRow*> RegionReader::ReadName(Stream& in) {
  const Stream before = in;
  const std::vector<OperationName>& names = source_.container.operations;
  ASSIGN_OR_RETURN(const size_t index, in.Index(names.size(), "name of an operation"));
  const OperationRow* const row = FindOperation(names[index]);
  if (row != nullptr) return row;
  const auto [dialect, name] = names[index];
  if (dialect == "vhlo") {
    return before.Refused("the operation vhlo.%s is unknown; the artifact was written as %s", name,
                          source_.container.producer);
  }
  return before.Refused(
      "found the operation %s.%s; portable artifacts (stablehlo.serialize_portable_artifact, jax.export) "
      "have those of the dialects vhlo, sdy and builtin",
      dialect, name);
}

absl::Status RegionReader::ReadProperties(const OperationRow& row, Stream& in, Operation& operation) {
  const std::vector<Stream>& all = source_.container.properties;
  ASSIGN_OR_RETURN(const size_t index, in.Index(all.size(), "properties"));
  Stream properties = all[index];
  for (std::string_view rest = row.attributes; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const Stream before = properties;
    ASSIGN_OR_RETURN(Stream::Flagged attribute, properties.NumberAndFlag());
    if (name.ends_with('?')) {
      name.remove_suffix(1);
      if (!attribute.flag) continue;
    } else {
      properties = before;
      ASSIGN_OR_RETURN(attribute.value, properties.Number());
    }
    ASSIGN_OR_RETURN(Attribute value, FindAttribute(source_, before, attribute.value));
    RETURN_IF_ERROR(AddToOperation(before, std::string(name), std::move(value), operation));
  }
  return properties.End(absl::StrCat("the properties of ", operation.name));
}

absl::Status RegionReader::ReadOperands(Stream& in, Operation& operation) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("operands"));
  for (size_t i = 0; i < count; ++i) {
    const Stream before = in;
    ASSIGN_OR_RETURN(const uint64_t number, in.Number());
    ASSIGN_OR_RETURN(const ValueId id, values_.Use(before, number));
    operation.operands.push_back(id);
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> RegionReader::Define(const Stream& at, const TypeEntry* type) {
  Value value;
  ASSIGN_OR_RETURN(value.type, CopyType(source_, at, *type));
  ASSIGN_OR_RETURN(value.id, values_.Define(at, type));
  return value;
}

absl::Status RegionReader::DefineCast(const Stream& at, const Operation& cast,
                                      const std::vector<const TypeEntry*>& types) {
  if (types.size() != cast.operands.size())
    return at.Error("a cast has %d operands and %d results; expected equal numbers", cast.operands.size(),
                    types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const Type* const from = std::get_if<Type>(&values_.TypeOf(cast.operands[i]).value);
    const Type* const to = std::get_if<Type>(&types[i]->value);
    if (from == nullptr || to == nullptr || *from != *to) return at.Error("a cast changes a value's type");
    RETURN_IF_ERROR(values_.DefineAs(at, cast.operands[i]));
  }
  return absl::OkStatus();
}

// Skips the order in which MLIR keeps a value's uses in memory, which has no meaning for a program.
absl::Status RegionReader::SkipUseListOrders(Stream& in, size_t values) {
  size_t count = 1;
  if (values > 1) {
    ASSIGN_OR_RETURN(count, in.Count("orders of uses"));
  }
  for (size_t i = 0; i < count; ++i) {
    if (values > 1) RETURN_IF_ERROR(in.Index(values, "a value of many").status());
    ASSIGN_OR_RETURN(const Stream::Flagged numbers, in.NumberAndFlag());
    RETURN_IF_ERROR(in.CheckCount(numbers.value, "uses"));
    for (uint64_t use = 0; use < numbers.value; ++use) RETURN_IF_ERROR(in.Number().status());
  }
  return absl::OkStatus();
}

absl::Status RegionReader::ReadOperation(Stream& in, std::string_view parent,
                                         std::vector<Operation>& operations) {
  const Stream before = in;
  if (++operations_ > kMaxOperations)
    return in.Error("the program has more than %d operations", kMaxOperations);
  ASSIGN_OR_RETURN(const OperationRow* const row, ReadName(in));
  ASSIGN_OR_RETURN(const uint8_t parts, in.Byte());
  Operation operation{.name = NameInProgram(*row, parent)};
  ASSIGN_OR_RETURN(operation.location, ReadLocation(source_, in));
  if ((parts & kHasAttributes) != 0) {
    ASSIGN_OR_RETURN(AttributeMap attributes, ReadDictionary(source_, in));
    for (auto& [name, attribute] : attributes)
      RETURN_IF_ERROR(AddToOperation(in, name, std::move(attribute), operation));
  }
  if ((parts & kHasProperties) != 0) RETURN_IF_ERROR(ReadProperties(*row, in, operation));
  TidyAttributes(operation);
  std::vector<const TypeEntry*> types;
  if ((parts & kHasResults) != 0) {
    ASSIGN_OR_RETURN(const size_t count, in.Count("results"));
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(types.emplace_back(), ReadTypeEntry(source_, in));
    }
  }
  if ((parts & kHasOperands) != 0) RETURN_IF_ERROR(ReadOperands(in, operation));
  if ((parts & kHasSuccessors) != 0)
    return before.Refused("%s has successors; StableHLO's operations have none", operation.name);
  if ((parts & kHasUseListOrders) != 0) RETURN_IF_ERROR(SkipUseListOrders(in, types.size()));
  if (operation.name == "builtin.unrealized_conversion_cast") return DefineCast(before, operation, types);
  for (const TypeEntry* const type : types) {
    ASSIGN_OR_RETURN(Value result, Define(before, type));
    operation.results.push_back(std::move(result));
  }
  if ((parts & kHasRegions) != 0) RETURN_IF_ERROR(ReadRegions(in, operation));
  operations.push_back(std::move(operation));
  return absl::OkStatus();
}

absl::Status RegionReader::ReadRegions(Stream& in, Operation& operation) {
  ASSIGN_OR_RETURN(const Stream::Flagged regions, in.NumberAndFlag());
  const bool is_isolated = regions.flag;
  RETURN_IF_ERROR(in.CheckCount(regions.value, "regions"));
  const bool is_section = is_isolated && source_.container.version >= kIsolatedSections;
  Stream section;
  if (is_section) {
    ASSIGN_OR_RETURN(section, ReadNestedOperations(in));
  }
  for (uint64_t i = 0; i < regions.value; ++i) {
    RETURN_IF_ERROR(
        ReadRegion(is_section ? section : in, operation.name, is_isolated, operation.regions.emplace_back()));
  }
  return section.End("the regions of an operation");
}

absl::Status RegionReader::ReadRegion(Stream& in, std::string_view parent, bool is_isolated, Region& region) {
  const Nested nested(source_);
  RETURN_IF_ERROR(nested.Check(in));
  const Stream before = in;
  ASSIGN_OR_RETURN(const uint64_t blocks, in.Number());
  if (blocks == 0 && parent == "func.func") return absl::OkStatus();  // The function is a declaration.
  if (blocks != 1)
    return before.Refused("a region of %s has %d blocks; StableHLO's regions have one", parent, blocks);
  ASSIGN_OR_RETURN(const size_t count, in.Count("values"));
  values_.Open(count, is_isolated);
  Block& block = region.blocks.emplace_back();
  RETURN_IF_ERROR(ReadBlock(in, parent, block));
  RETURN_IF_ERROR(values_.Close(in));
  const bool ends = !block.operations.empty() && block.operations.back().name.ends_with(".return");
  if (!ends && parent != "builtin.module")
    return in.Error("a region of %s does not end with a return", parent);
  return absl::OkStatus();
}

absl::Status RegionReader::ReadArguments(Stream& in, Block& block) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("arguments"));
  const bool has_flag = source_.container.version >= kNoUnknownLocations;
  for (size_t i = 0; i < count; ++i) {
    const Stream before = in;
    Stream::Flagged type{.flag = true};  // The flag says that a location follows.
    if (has_flag) {
      ASSIGN_OR_RETURN(type, in.NumberAndFlag());
    } else {
      ASSIGN_OR_RETURN(type.value, in.Number());
    }
    ASSIGN_OR_RETURN(const TypeEntry* const entry, FindType(source_, before, type.value));
    ASSIGN_OR_RETURN(Value argument, Define(before, entry));
    block.arguments.push_back(std::move(argument));
    if (!type.flag) continue;
    ASSIGN_OR_RETURN(Location location, ReadLocation(source_, in));
    if (location.name.empty()) continue;
    block.argument_names.resize(i + 1);
    block.argument_names[i] = std::move(location.name);
  }
  if (source_.container.version < kUseListOrders) return absl::OkStatus();
  ASSIGN_OR_RETURN(const uint8_t has_orders, in.Byte());
  return has_orders != 0 ? SkipUseListOrders(in, count) : absl::OkStatus();
}

absl::Status RegionReader::ReadBlock(Stream& in, std::string_view parent, Block& block) {
  ASSIGN_OR_RETURN(const Stream::Flagged operations, in.NumberAndFlag());
  RETURN_IF_ERROR(in.CheckCount(operations.value, "operations"));
  if (operations.flag) RETURN_IF_ERROR(ReadArguments(in, block));
  for (uint64_t i = 0; i < operations.value; ++i)
    RETURN_IF_ERROR(ReadOperation(in, parent, block.operations));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Operations> ReadOperations(Source& source) {
  RegionReader reader(source);
  Stream in = source.container.operations_section;
  Block block;
  reader.values().Open(0, /*is_isolated=*/true);
  RETURN_IF_ERROR(reader.ReadBlock(in, "", block));
  RETURN_IF_ERROR(in.End("the operations"));
  return Operations{.operations = std::move(block.operations), .values = reader.values().count()};
}

}  // namespace hlod::stablehlo::bytecode
