// Reads the repository's sources once.
#include "tests/style/sources.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/source_dir.h"

namespace hlod {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const std::vector<SourceFile>& Sources() {
  static const std::vector<SourceFile>* const sources = [] {
    auto* found = new std::vector<SourceFile>;
    const fs::path root = SourceDir();
    const auto add = [&](const fs::path& path) {
      static const std::regex wanted(
          R"(.*(\.(cc|h|inc|proto|py|sh|md|cmake|service|socket|yaml)|CMakeLists\.txt|CMakePresets\.json)|[^.]*)");
      if (!std::regex_match(path.filename().string(), wanted)) return;
      SourceFile file{.path = path.lexically_relative(root).string(), .text = ReadAll(path)};
      std::istringstream in(file.text);
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      found->push_back(std::move(file));
    };
    for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
      if (entry.is_regular_file()) add(entry.path());
    }
    for (const char* folder : {"client", "common", "deploy", "proto", "server", "tests", ".ci"}) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
        if (entry.is_regular_file()) add(entry.path());
      }
    }
    std::ranges::sort(*found, {}, &SourceFile::path);
    return found;
  }();
  return *sources;
}

bool IsCpp(const SourceFile& file) {
  return file.path.ends_with(".cc") || file.path.ends_with(".h") || file.path.ends_with(".inc");
}

bool StartsWithAny(std::string_view path, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return path.starts_with(prefix); });
}

std::string CodeOf(const std::string& line) {
  static const std::regex strings(R"("(\\.|[^"\\])*")"), comment(R"(//.*$)");
  return std::regex_replace(std::regex_replace(line, strings, "\"\""), comment, "");
}

}  // namespace hlod
