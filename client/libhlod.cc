// libhlod has no code of its own: it consists of the libraries that it is linked from.
namespace hlod {
extern const char kLibraryName[];
const char kLibraryName[] = "libhlod";
}  // namespace hlod
