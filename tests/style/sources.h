// The repository's sources, for the tests that read them like text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hlod {

struct SourceFile {
  std::string path;  // The path from the repository's root.
  std::string text;
  std::vector<std::string> lines;
};

// Everything that people wrote, by extension, in the order of the paths; data and generated files are not
// among it.
const std::vector<SourceFile>& Sources();

bool IsCpp(const SourceFile& file);

std::string ReadAll(const std::filesystem::path& path);

bool StartsWithAny(std::string_view path, const std::vector<std::string>& prefixes);

// Returns the code of a line: without a comment, string literals emptied.
std::string CodeOf(const std::string& line);

}  // namespace hlod
