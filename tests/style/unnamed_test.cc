// A name in an unnamed namespace is the room's: ten files of a room are compiled as one (CMAKE_UNITY_BUILD),
// and which ten changes with every file that comes or goes. Two files of a room that define the same name
// would compile today and not tomorrow, and so would a name that a header of a neighbouring file declares;
// they are found here, without a compiler: by the lines that begin a declaration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/style/sources.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

namespace fs = std::filesystem;

// Returns the folder that is compiled together with the file: the nearest one with a CMakeLists.txt. Returns
// nullopt when each of its files is compiled on its own.
std::optional<fs::path> RoomOf(const fs::path& file) {
  fs::path folder = file.parent_path();
  while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
  const bool apart = ReadAll(folder / "CMakeLists.txt").find("UNITY_BUILD OFF)") != std::string::npos;
  return apart ? std::nullopt : std::optional(folder);
}

// Returns the types of a parameter list, "int64_t count, const Shape& shape", without the names.
std::string TypesOf(const std::string& parameters) {
  static const std::regex name(R"(\s*\b\w+(\s*=[^,]*)?\s*(,|$))");
  return std::regex_replace(parameters, name, "$2");
}

// The name of a declaration, with the types of a function's parameters, for overloads may share a name.
struct Name {
  std::string name;
  std::string parameters;  // "(int64_t, const Shape&)"; empty unless it is a function.
  std::string alias;       // The type that a `using` gives another name.
};

// Returns the name that a declaration defines or, for a function of a header, declares. Returns nullopt for
// what defines none, and for what may be repeated.
std::optional<Name> NameOf(const std::string& declaration) {
  static const std::regex type(R"(^(struct|class|enum class|enum|union) (\w+)[^;]*\{.*)");
  static const std::regex alias(R"(^using (\w+) = (.*);.*)");
  static const std::regex constant(
      R"(^(static |inline )*(constexpr|const|thread_local)\b[^(={]*?\b(\w+)(\[\w*\])* ?(=|\{|;).*)");
  static const std::regex function(R"(^[^=(]*?\b(\w+)\((.*)\)( const| noexcept)*( -> [^{]*)? ?[{;].*)");
  std::smatch match;
  if (declaration.starts_with("static_assert")) return std::nullopt;
  if (std::regex_match(declaration, match, type)) return Name{.name = match[2]};
  if (std::regex_match(declaration, match, alias)) return Name{.name = match[1], .alias = match[2]};
  if (std::regex_match(declaration, match, constant)) return Name{.name = match[3]};
  if (std::regex_match(declaration, match, function))
    return Name{.name = match[1], .parameters = "(" + TypesOf(match[2]) + ")"};
  return std::nullopt;
}

// A declaration at the beginning of a line.
struct Declaration {
  std::string enclosing;  // "hlod::lazy"
  bool unnamed;           // True in an unnamed namespace.
  std::string text;       // Up to its first { or ;.
};

// Calls visit for each declaration of a file in its namespaces.
template <typename Visit>
void ForEachDeclaration(const fs::path& path, const Visit& visit) {
  std::istringstream lines(ReadAll(path));
  Declaration declaration{.unnamed = false};
  std::string& text = declaration.text;
  for (std::string line; std::getline(lines, line);) {
    if (line == "namespace {") {
      declaration.unnamed = true;
    } else if (line == "}  // namespace") {
      declaration.unnamed = false;
    } else if (line.starts_with("namespace ")) {
      declaration.enclosing = line.substr(10, line.find(" {") - 10);
    } else if (!line.empty()) {
      const bool begins = std::isalpha(static_cast<unsigned char>(line[0])) != 0;
      if (begins && line.starts_with("template ")) continue;
      if (begins) text.clear();
      if (!begins && text.empty()) continue;
      text += begins ? line : " " + line.substr(std::min(line.find_first_not_of(' '), line.size()));
      if (line.find_first_of("{;") == std::string::npos) continue;
      text.resize(text.find_first_of("{;") + 1);
      visit(declaration);
      text.clear();
    }
  }
}

TEST(Unnamed, NamesAreDefinedOnceInARoom) {
  std::map<std::string, std::set<std::string>> files;
  const fs::path root = SourceDir();
  for (const char* folder : {"common", "server", "client"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".cc") continue;
      const std::optional<fs::path> room = RoomOf(entry.path());
      if (!room) continue;
      ForEachDeclaration(entry.path(), [&](const Declaration& declaration) {
        const std::optional<Name> name = declaration.unnamed ? NameOf(declaration.text) : std::nullopt;
        if (!name || (declaration.text.ends_with(';') && !name->parameters.empty()) || !name->alias.empty())
          return;
        files[room->lexically_relative(root).string() + ": " + declaration.enclosing + " " + name->name +
              name->parameters]
            .insert(entry.path().lexically_relative(root).string());
      });
    }
  }
  EXPECT_GT(files.size(), 2000u) << "the reader of declarations finds too few";
  for (const auto& [name, where] : files) {
    std::string list;
    for (const std::string& file : where) list += "\n  " + file;
    EXPECT_EQ(where.size(), 1u) << name << " is defined by several files that may be compiled as one:" << list
                                << "\nGive it another name, or a header if it is the same.";
  }
}

// Returns the headers of this repository that a file includes.
std::vector<fs::path> IncludedBy(const fs::path& file) {
  static const std::regex include(R"re(\s*#\s*include\s+["<]((client|common|server|hlod)/[^">]+)[">].*)re");
  std::vector<fs::path> headers;
  std::istringstream lines(ReadAll(file));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.find("include") == std::string::npos || !std::regex_match(line, match, include)) continue;
    for (const char* folder : {"", "client/include", "server/include"}) {
      const fs::path header = SourceDir() / folder / match[1].str();
      if (fs::exists(header)) headers.push_back(header);
    }
  }
  return headers;
}

// A name that a header declares.
struct HeaderName {
  fs::path header;
  std::string enclosing;
  Name name;
};

// The names of all headers, each file read once.
class Headers {
 public:
  // Adds the headers that a file includes, and those that they include, to `seen`.
  void AddIncluded(const fs::path& file, std::set<fs::path>& seen) {
    const auto [found, is_new] = included_.try_emplace(file);
    if (is_new) found->second = IncludedBy(file);
    for (const fs::path& header : found->second) {
      if (seen.insert(header).second) AddIncluded(header, seen);
    }
  }

  const std::vector<HeaderName>& NamesOf(const fs::path& header) {
    const auto [found, is_new] = names_.try_emplace(header);
    if (is_new && header.extension() == ".h") {
      ForEachDeclaration(header, [&names = found->second, &header](const Declaration& declaration) {
        const std::optional<Name> name = NameOf(declaration.text);
        if (name) names.push_back({header, declaration.enclosing, *name});
      });
    }
    return found->second;
  }

 private:
  std::map<fs::path, std::vector<fs::path>> included_;
  std::map<fs::path, std::vector<HeaderName>> names_;
};

// Returns true when a name in an unnamed namespace of `enclosing` cannot be told from the header's, or hides
// it. An overload hides functions of the same name from the unnamed namespaces of files after it: those of
// the room's own headers are likely to be called there.
bool Clash(const std::string& enclosing, const Name& name, const HeaderName& other, bool own_header) {
  if (enclosing != other.enclosing && !enclosing.starts_with(other.enclosing + "::")) return false;
  if (!name.alias.empty() && name.alias == other.name.alias) return false;
  const bool functions = !name.parameters.empty() && !other.name.parameters.empty();
  if (!functions) return true;
  return enclosing == other.enclosing && (own_header || name.parameters == other.name.parameters);
}

// Files that are compiled before it bring their headers: a name that they declare must not be defined again.
TEST(Unnamed, NamesAreNotThoseOfHeadersInTheRoom) {
  const fs::path root = SourceDir();
  std::map<fs::path, std::vector<fs::path>> rooms;
  for (const char* folder : {"common", "server", "client"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".cc") continue;
      if (const std::optional<fs::path> room = RoomOf(entry.path())) rooms[*room].push_back(entry.path());
    }
  }
  Headers headers;
  for (const auto& [room, files] : rooms) {
    std::set<fs::path> seen;
    for (const fs::path& file : files) headers.AddIncluded(file, seen);
    std::multimap<std::string, const HeaderName*> known;
    for (const fs::path& header : seen) {
      for (const HeaderName& name : headers.NamesOf(header)) known.emplace(name.name.name, &name);
    }
    for (const fs::path& file : files) {
      ForEachDeclaration(file, [&, &known = known](const Declaration& declaration) {
        const std::optional<Name> name = declaration.unnamed ? NameOf(declaration.text) : std::nullopt;
        if (!name) return;
        const auto [begin, end] = known.equal_range(name->name);
        for (auto other = begin; other != end; ++other) {
          const bool own_header = RoomOf(other->second->header) == room;
          EXPECT_FALSE(Clash(declaration.enclosing, *name, *other->second, own_header))
              << file.lexically_relative(root) << ": " << name->name << name->parameters
              << " has the name of a declaration in " << other->second->header.lexically_relative(root)
              << ", which files beside it include. Give it another name.";
        }
      });
    }
  }
}

}  // namespace
}  // namespace hlod
