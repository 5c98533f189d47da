#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "swarmkv/error.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

std::string with_separators(std::string digits) {
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string one_line(std::string_view cell) {
  std::string text = escape_control(cell);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

}  // namespace

std::string format_count(std::int64_t n) {
  const std::string text = fmt::format("{}", n);
  return n < 0 ? "-" + with_separators(text.substr(1)) : with_separators(text);
}

std::string format_fixed(double value, int n_decimals) {
  if (!std::isfinite(value)) return "-";
  const std::string text = fmt::format("{:.{}f}", std::fabs(value), n_decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !is_zero ? "-" : "") + with_separators(text.substr(0, point)) +
         text.substr(point);
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const double ms = static_cast<double>(duration.count()) / 1e6;
  if (std::fabs(ms) < 9.95) return format_fixed(ms, 1) + " ms";
  if (std::fabs(ms) < 999.5) return format_fixed(ms, 0) + " ms";
  if (std::fabs(ms) < 59'950) return format_fixed(ms / 1000, 1) + " s";
  const auto seconds = static_cast<std::int64_t>(std::llround(ms / 1000));
  const std::string sign = seconds < 0 ? "-" : "";
  const std::int64_t s = std::abs(seconds);
  if (s < 3600) return fmt::format("{}{} min {:02} s", sign, s / 60, s % 60);
  const std::int64_t minutes = (s + 30) / 60;
  return fmt::format("{}{} h {:02} min", sign, format_count(minutes / 60), minutes % 60);
}

std::string format_bytes(std::uint64_t n) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (n < 1024) return fmt::format("{} B", n);
  double value = static_cast<double>(n) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be shown as 1,024.0 of the smaller unit.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{} {}", format_fixed(value, 1), kUnits[unit]);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  std::vector<std::string> headers;
  for (const Column& column : columns_) headers.push_back(column.header);
  add_row(std::move(headers));
}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("[table.add_row] {} cells for {} columns",
                                                         cells.size(), columns_.size()));
  }
  cells.resize(columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = one_line(cells[i]);
    if (columns_[i].max_width > 0) cells[i] = fit_width(cells[i], columns_[i].max_width);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::to_string() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      if (i > 0) line += "   ";
      line += columns_[i].align == Align::kRight ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace swarmkv::internal
