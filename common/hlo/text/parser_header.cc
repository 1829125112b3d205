// The header line of HLO text: module name and attributes.
#include "common/base/text/strings.h"
#include "common/hlo/text/internal.h"
#include "common/hlo/text/parser_internal.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;

// Reads {(parameter shapes)->result}.
Status ReadEntryLayout(Lexer& lexer, const ParseOptions& options, Module& module) {
  RETURN_IF_ERROR(lexer.Expect("{"));
  RETURN_IF_ERROR(ReadList(lexer, "(", ")", [&]() -> Status {
    ASSIGN_OR_RETURN(Shape shape, ReadShape(lexer, options.nesting_max));
    module.config.entry_layout.parameters.push_back(std::move(shape));
    return OkStatus();
  }));
  RETURN_IF_ERROR(lexer.Expect("->"));
  ASSIGN_OR_RETURN(module.config.entry_layout.result, ReadShape(lexer, options.nesting_max));
  return lexer.Expect("}");
}

// Reads { {0}: (1, {}, may-alias), ... }.
Status ReadAliases(Lexer& lexer, const ParseOptions&, Module& module) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    InputOutputAlias alias;
    ASSIGN_OR_RETURN(alias.output_index, ReadDims(lexer));
    RETURN_IF_ERROR(lexer.Expect(":"));
    RETURN_IF_ERROR(lexer.Expect("("));
    ASSIGN_OR_RETURN(alias.parameter_number, lexer.Integer());
    RETURN_IF_ERROR(lexer.Expect(","));
    ASSIGN_OR_RETURN(alias.parameter_index, ReadDims(lexer));
    if (lexer.Try(",")) {
      alias.must_alias = lexer.TryWord("must-alias");
      if (!alias.must_alias && !lexer.TryWord("may-alias")) return lexer.Expected("may-alias or must-alias");
    }
    module.config.input_output_alias.push_back(std::move(alias));
    return lexer.Expect(")");
  });
}

// Reads { (0, {}), (1, {1}) }.
Status ReadDonors(Lexer& lexer, const ParseOptions&, Module& module) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    BufferDonor donor;
    RETURN_IF_ERROR(lexer.Expect("("));
    ASSIGN_OR_RETURN(donor.parameter_number, lexer.Integer());
    RETURN_IF_ERROR(lexer.Expect(","));
    ASSIGN_OR_RETURN(donor.parameter_index, ReadDims(lexer));
    module.config.buffer_donors.push_back(std::move(donor));
    return lexer.Expect(")");
  });
}

template <auto M>
Status ReadPositive(Lexer& lexer, const ParseOptions&, Module& module) {
  lexer.SkipBlanks();
  const size_t at = lexer.position();
  ASSIGN_OR_RETURN(module.config.*M, lexer.Integer());
  if (module.config.*M < 1)
    return lexer.ErrorAt(at, "expected a positive number, found %d", module.config.*M);
  return OkStatus();
}

Status ReadFlag(Lexer& lexer, const ParseOptions&, Module&) { return lexer.Bool().status(); }
Status ReadAnything(Lexer& lexer, const ParseOptions&, Module&) { return lexer.Braces().status(); }
// Reads a flag, or a list of flags in braces.
Status ReadFlags(Lexer& lexer, const ParseOptions&, Module&) {
  return lexer.Peek() == '{' ? lexer.Braces().status() : lexer.Bool().status();
}

struct HeaderField {
  std::string_view name;
  Status (*parse)(Lexer&, const ParseOptions&, Module&);
};
constexpr HeaderField kHeader[] = {
    {"entry_computation_layout", ReadEntryLayout},
    {"input_output_alias", ReadAliases},
    {"buffer_donor", ReadDonors},
    {"is_scheduled",
     [](Lexer& lexer, const ParseOptions&, Module& module) -> Status {
       ASSIGN_OR_RETURN(module.config.is_scheduled, lexer.Bool());
       return OkStatus();
     }},
    {"replica_count", ReadPositive<&ModuleConfig::replica_count>},
    {"num_partitions", ReadPositive<&ModuleConfig::partition_count>},
    {"frontend_attributes",
     [](Lexer& lexer, const ParseOptions&, Module& module) {
       return ReadStringMap(lexer, module.config.frontend_attributes);
     }},
    // Requests of the compiler's caller about shardings and aliases, and tables for tools: they do not change
    // values.
    {"alias_passthrough_params", ReadFlag},
    {"allow_spmd_sharding_propagation_to_parameters", ReadFlags},
    {"allow_spmd_sharding_propagation_to_output", ReadFlags},
    {"origin_recovery_table", ReadAnything},
};

}  // namespace

Status ReadHeader(Lexer& lexer, const ParseOptions& options, Module& module) {
  ASSIGN_OR_RETURN(const std::string_view name, lexer.Name());
  module.set_name(std::string(name));
  std::set<std::string_view> seen;
  while (lexer.Try(",")) {
    lexer.SkipBlanks();
    const size_t at = lexer.position();
    ASSIGN_OR_RETURN(const std::string_view key, lexer.Name());
    RETURN_IF_ERROR(lexer.Expect("="));
    if (!seen.insert(key).second) return lexer.ErrorAt(at, "module attribute \"%s\" is given twice", key);
    const HeaderField* found = nullptr;
    for (const HeaderField& field : kHeader) {
      if (field.name == key) found = &field;
    }
    if (found == nullptr)
      return lexer.At(at, Unimplemented("module attribute \"%s\" is not known to this build", key));
    RETURN_IF_ERROR(found->parse(lexer, options, module));
  }
  return OkStatus();
}

}  // namespace hlod::hlo::text
