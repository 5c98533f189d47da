// Numbers and columns as people read them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::internal {

[[nodiscard]] std::string format_count(std::int64_t n);  ///< 1,234,567
[[nodiscard]] std::string format_fixed(double value,
                                       int n_decimals);  ///< 1,234.50; "-" if not finite
/// The unit fits the size: 0.3 ms, 83 ms, 4.2 s, 2 min 05 s, 1 h 02 min.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);
[[nodiscard]] std::string format_bytes(std::uint64_t n);  ///< 98.4 MiB

/// Columns a text takes on a terminal: 0 for combining marks, 2 for wide East Asian characters and
/// emoji. An approximation by blocks; terminals differ among themselves.
[[nodiscard]] std::size_t display_width(std::string_view text);
/// At most `width` columns; what is cut off is marked with an ellipsis.
[[nodiscard]] std::string fit_width(std::string_view text, std::size_t width);

enum class Align { kLeft, kRight };

/// Column-aligned plain text. Cells may come from anywhere: they are escaped, and kept to one line
/// each.
class Table {
 public:
  struct Column {
    std::string header;
    Align align = Align::kLeft;
    std::size_t max_width = 0;  ///< 0 = as wide as needed
  };
  explicit Table(std::vector<Column> columns);

  /// Missing cells are empty.
  /// errors  kInvalidArgument  more cells than columns
  void add_row(std::vector<std::string> cells);

  /// The header and every row, each line ended by a newline and without trailing spaces.
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace swarmkv::internal
