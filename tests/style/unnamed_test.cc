// A name in an unnamed namespace is the room's: ten files of a room are compiled as one (CMAKE_UNITY_BUILD), and which ten
// changes with every file that comes or goes. Two files of a room that define the same name would compile today and
// not tomorrow, so they are found here, without a compiler: by the lines that begin a declaration.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/source_dir.h"

namespace hlod {
namespace {

namespace fs = std::filesystem;

std::string Text(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns the folder that is compiled together with the file: the nearest one with a CMakeLists.txt. Returns
// nullopt when each of its files is compiled on its own.
std::optional<fs::path> RoomOf(const fs::path& file) {
  fs::path folder = file.parent_path();
  while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
  const bool apart = Text(folder / "CMakeLists.txt").find("UNITY_BUILD OFF)") != std::string::npos;
  return apart ? std::nullopt : std::optional(folder);
}

// Returns the types of a parameter list, "int64_t count, const Shape& shape", without the names.
std::string TypesOf(const std::string& parameters) {
  static const std::regex name(R"(\s*\b\w+(\s*=[^,]*)?\s*(,|$))");
  return std::regex_replace(parameters, name, "$2");
}

// Returns the name that a declaration defines, with the types of a function's parameters, for overloads may
// share a name. Returns nullopt for what defines none, and for what may be repeated.
std::optional<std::string> Defined(const std::string& declaration) {
  static const std::regex type(R"(^(struct|class|enum class|enum|union) (\w+)[^;]*\{.*)");
  static const std::regex constant(
      R"(^(static |inline )*(constexpr|const|thread_local)\b[^(={]*?\b(\w+)(\[\w*\])* ?(=|\{|;).*)");
  static const std::regex function(R"(^[^=(]*?\b(\w+)\((.*)\)( const| noexcept)*( -> [^{]*)? ?\{.*)");
  std::smatch match;
  if (std::regex_match(declaration, match, type)) return match[2];
  if (std::regex_match(declaration, match, constant)) return match[3];
  if (std::regex_match(declaration, match, function)) return match[1].str() + "(" + TypesOf(match[2]) + ")";
  return std::nullopt;
}

// Calls visit(enclosing namespace, declaration) for each declaration in the unnamed namespaces of a file.
// A declaration ends at its first { or ;.
template <typename Visit>
void ForEachUnnamed(const fs::path& path, const Visit& visit) {
  std::istringstream lines(Text(path));
  std::string enclosing, declaration;
  bool unnamed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "namespace {") {
      unnamed = true;
    } else if (line == "}  // namespace") {
      unnamed = false;
    } else if (line.starts_with("namespace ")) {
      enclosing = line.substr(10);
    } else if (unnamed && !line.empty()) {
      const bool begins = std::isalpha(static_cast<unsigned char>(line[0])) != 0;
      if (begins && line.starts_with("template ")) continue;
      if (begins) declaration.clear();
      if (!begins && declaration.empty()) continue;
      declaration += begins ? line : " " + line.substr(std::min(line.find_first_not_of(' '), line.size()));
      if (line.find_first_of("{;") == std::string::npos) continue;
      visit(enclosing, declaration.substr(0, declaration.find_first_of("{;") + 1));
      declaration.clear();
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
      ForEachUnnamed(entry.path(), [&](const std::string& enclosing, const std::string& declaration) {
        const std::optional<std::string> name = Defined(declaration);
        if (name) {
          files[room->lexically_relative(root).string() + ": " + enclosing + " " + *name].insert(
              entry.path().lexically_relative(root).string());
        }
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

}  // namespace
}  // namespace hlod
