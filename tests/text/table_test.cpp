#include "text/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Table, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(format_fixed(1234.5, 2), "1,234.50");
  EXPECT_EQ(format_fixed(999.96, 1), "1,000.0");
  EXPECT_EQ(format_fixed(-1234.5, 0), "-1,234");
  EXPECT_EQ(format_fixed(-0.04, 1), "0.0") << "no minus sign before nothing";
  EXPECT_EQ(format_fixed(std::numeric_limits<double>::quiet_NaN(), 1), "-");
}

TEST(Table, WritesDurationsInAFittingUnit) {
  EXPECT_EQ(format_duration(microseconds(310)), "0.3 ms");
  EXPECT_EQ(format_duration(microseconds(9960)), "10 ms");
  EXPECT_EQ(format_duration(milliseconds(83)), "83 ms");
  EXPECT_EQ(format_duration(milliseconds(4210)), "4.2 s");
  EXPECT_EQ(format_duration(microseconds(999600)), "1.0 s");
  EXPECT_EQ(format_duration(milliseconds(59960)), "1 min 00 s");
  EXPECT_EQ(format_duration(seconds(125)), "2 min 05 s");
  EXPECT_EQ(format_duration(seconds(3725)), "1 h 02 min");
  EXPECT_EQ(format_duration(milliseconds(-83)), "-83 ms");
}

TEST(Table, WritesBytesInAFittingUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(3ULL << 40), "3.0 TiB");
}

TEST(Table, KnowsHowManyColumnsATextTakes) {
  EXPECT_EQ(display_width("plain"), 5U);
  EXPECT_EQ(display_width("caf\xc3\xa9"), 4U);
  EXPECT_EQ(display_width("cafe\xcc\x81"), 4U) << "a combining accent";
  EXPECT_EQ(display_width("\xe5\xa5\x91\xe7\xba\xa6"), 4U) << "two wide characters";
  EXPECT_EQ(display_width("\xf0\x9f\x8c\xb1"), 2U);
  EXPECT_EQ(display_width("\xff"), 1U);
}

TEST(Table, MarksWhatItCutsOff) {
  EXPECT_EQ(fit_width("short", 5), "short");
  EXPECT_EQ(fit_width("longer", 5), "long\xe2\x80\xa6");
  EXPECT_EQ(fit_width("\xe5\xa5\x91\xe7\xba\xa6", 3), "\xe5\xa5\x91\xe2\x80\xa6");
  EXPECT_EQ(fit_width("\xe5\xa5\x91\xe7\xba\xa6", 2), "\xe2\x80\xa6") << "no half of a wide one";
  EXPECT_EQ(fit_width("x", 0), "");
}

TEST(Table, AlignsItsColumns) {
  Table table({{"agent"}, {"new", Align::kRight}, {"end"}});
  table.add_row({"teaser", "38", "stop"});
  table.add_row({"\xe5\xa5\x91\xe7\xba\xa6", "1,311"});

  EXPECT_EQ(table.to_string(),
            "agent      new   end\n"
            "teaser      38   stop\n"
            "\xe5\xa5\x91\xe7\xba\xa6     1,311\n");
}

TEST(Table, KeepsCellsToOneHarmlessLine) {
  Table table({{"name", Align::kLeft, 8}, {"x"}});
  table.add_row({"a\nb\x1b[2J", "1"});
  table.add_row({"much too long", "2"});

  EXPECT_EQ(table.to_string(),
            "name       x\n"
            "a b\\x1b\xe2\x80\xa6   1\n"
            "much to\xe2\x80\xa6   2\n");
}

TEST(Table, RefusesMoreCellsThanColumns) {
  Table table({{"one"}});

  EXPECT_THROW(table.add_row({"1", "2"}), Error);
}

}  // namespace
}  // namespace swarmkv::internal
