// Scripts and C++ take the bytes of records from one table, record_layout.def, each in its own way: CMake computes the
// offsets and formats of the scripts, the compiler those of the structs. Here both are compared, field by field.

#include "storage/redis/record_layout.h"

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "storage/redis/scripts.h"
#include "support/temp_folder.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

namespace layout = redis::layout;
namespace scripts = redis::scripts;

struct Field {
  std::string name;
  std::size_t at;  // from 1
  std::size_t end;
};

struct Record {
  std::vector<Field> fields;
  std::size_t size = 0;
};

struct Layout {
  std::map<std::string, Record> records;
  std::map<std::string, std::string> values;  // as they are in a script
};

std::string literal(unsigned number) {
  return std::to_string(number);
}
std::string literal(char letter) {
  return std::string{"'"} + letter + "'";
}
std::string literal(std::string_view text) {
  return '"' + std::string{text} + '"';
}
std::string literal(double number) {
  std::ostringstream text;
  text << std::fixed;
  text.precision(1);
  text << number;
  return text.str();
}

std::string local(const std::vector<std::string>& names, const std::vector<std::string>& literals) {
  std::string text = "local ";
  for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
  text += " = ";
  for (const std::string& value : literals) text += (&value == &literals.front() ? "" : ", ") + value;
  for (char& letter : text) {
    if (&letter - text.data() >= 6 && &letter - text.data() < static_cast<std::ptrdiff_t>(text.find(" ="))) {
      letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
  }
  return text;
}

// As the compiler lays it out.
Layout compiled() {
  Layout all;
#define RECORD(record)             \
  {                                \
    using Struct = layout::record; \
    Record& made = all.records[#record];
#define FIELD(field, type) \
  made.fields.push_back({#field, offsetof(Struct, field) + 1, offsetof(Struct, field) + sizeof(Struct::field)});
#define END_RECORD()          \
  made.size = sizeof(Struct); \
  }
#define VALUES(set)                       \
  {                                       \
    namespace Set = layout::set;          \
    std::string& made = all.values[#set]; \
    std::vector<std::string> names;       \
    std::vector<std::string> literals;
#define VALUE(name, number)  \
  names.emplace_back(#name); \
  literals.push_back(literal(Set::name));
#define END_VALUES()             \
  made = local(names, literals); \
  }
#include "storage/redis/record_layout.def"
#undef RECORD
#undef FIELD
#undef END_RECORD
#undef VALUES
#undef VALUE
#undef END_VALUES
  return all;
}

// The lines of a script, as CMake embeds it; none if CMake refuses it.
std::vector<std::string> embedded(const std::string& script) {
  const test::TempFolder folder;
  std::ofstream{folder.path() / "common.lua"} << "";
  std::ofstream{folder.path() / "probe.lua"} << "#!lua\n" << script;
  const std::string out = folder.path() / "out.cpp";
  const std::string command = std::string{EASYRETRY_CMAKE} + " -DFOLDER=" + folder.path().string() + " -DOUT=" + out +
                              " -DROOM=probe -DLAYOUT=" EASYRETRY_ROOT "/src/storage/redis/record_layout.def -P " +
                              EASYRETRY_ROOT "/cmake/lua_scripts.cmake";
  if (std::system(command.c_str()) != 0) return {};  // NOLINT: no other thread runs
  std::vector<std::string> lines;
  std::ifstream text{out};
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const auto first = std::ranges::find_if(lines, [](const auto& line) { return line.ends_with("#!lua"); });
  if (first != lines.end()) lines.erase(lines.begin(), first + 1);
  return lines;
}

TEST(RedisRecordLayout, IsTheSameInScriptsAndInCpp) {
  std::string uses;
  std::vector<std::string> expected;
  for (const auto& [name, record] : compiled().records) {
    uses += "SIZE(" + name + ")\n";
    expected.push_back(std::to_string(record.size));
    for (const Field& field : record.fields) {
      uses += "AT(" + name + ": " + field.name + ") BYTES(" + name + ": " + field.name + ") BYTES(" + name +
              "[i]: " + field.name + ")\n";
      const auto in_many = [&](std::size_t byte) {
        const std::string before = byte == record.size ? "" : " - " + std::to_string(record.size - byte);
        return std::to_string(record.size) + " * i" + before;
      };
      expected.push_back(std::to_string(field.at) + " " + std::to_string(field.at) + ", " + std::to_string(field.end) +
                         " " + in_many(field.at) + ", " + in_many(field.end));
    }
  }
  for (const auto& [name, values] : compiled().values) {
    uses += "VALUES(" + name + ")\n";
    expected.push_back(values);
  }
  auto lines = embedded(uses);
  ASSERT_THAT(lines, SizeIs(::testing::Ge(expected.size())));
  lines.resize(expected.size());
  EXPECT_EQ(lines, expected);
}

class RedisRecordFormat : public RedisStoreTest {};

TEST_F(RedisRecordFormat, HasAsManyBytesInTheServerAsInCpp) {
  std::string uses;
  const auto records = compiled().records;
  for (const auto& [name, record] : records) uses += "FORMAT(" + name + ")\n";
  const auto formats = embedded(uses);
  auto format = formats.begin();
  for (const auto& [name, record] : records) {
    ASSERT_NE(format, formats.end());
    EXPECT_EQ(run({"EVAL", "return struct.size(" + *format++ + ")", "0"}), std::to_string(record.size)) << name;
  }
}

TEST(RedisRecordLayout, RefusesFieldsThatThereAreNotOrThatDoNotFollow) {
  EXPECT_THAT(embedded("AT(Meta: lease)"), Not(IsEmpty()));
  for (const char* wrong : {"AT(Meta: leese)", "AT(Mata: lease)", "FORMAT(Meta: version next_at)", "VALUES(Stat)"}) {
    EXPECT_THAT(embedded(wrong), IsEmpty()) << wrong;
  }
}

TEST(RedisRecordLayout, IsWhereAllFormatsAndOffsetsOfScriptsComeFrom) {
  const std::regex naked{R"(struct\.(un)?pack\(['"]|:sub\([0-9]|['"][<>])"};
  for (const auto& file : std::filesystem::directory_iterator{EASYRETRY_ROOT "/src/storage/redis/lua"}) {
    std::ifstream text{file.path()};
    for (std::string line; std::getline(text, line);) {
      EXPECT_FALSE(std::regex_search(line, naked)) << file.path() << ": " << line;
    }
  }
  const std::regex left{R"((FORMAT|AT|BYTES|SIZE|VALUES)\()"};
  for (const redis::Script* script :
       {&scripts::insert, &scripts::load, &scripts::claim, &scripts::settle, &scripts::renew, &scripts::revise,
        &scripts::find, &scripts::name, &scripts::beat, &scripts::pause, &scripts::resume, &scripts::paused,
        &scripts::trim, &scripts::fold}) {
    EXPECT_FALSE(std::regex_search(std::string{script->code}, left)) << script->name;
  }
}

}  // namespace
}  // namespace easyretry::storage
