// Damaged files from end to end on a real model: one warning that names file and field, the
// document is read, and the answers are those of a run without any file.
#include "model/snapshot_rig.h"
#include "snapshot/layout.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using namespace internal;
using swarmkv::Model;

class SnapshotDamage : public SnapshotRig {};
class LongSnapshotDamage : public SnapshotRig {};

// A place in a file and the field that is wrong if a bit changes there.
struct Place {
  std::size_t at;
  const char* field;
};

std::vector<Place> twenty_places(const SnapshotHeader& header) {
  const std::size_t tokens = header.header_bytes, n = 4 * header.n_tokens;
  const std::size_t state = header.state_offset, last = header.file_bytes - 1;
  return {{0, "magic"},
          {7, "magic"},
          {kAtByteOrder + 1, "byte order"},
          {kAtVersion, "format version"},
          {kAtHeaderBytes, "header size"},
          {kAtTokens + 3, "tokens"},
          {kAtStateOffset, "state offset"},
          {kAtStateBytes, "state size"},
          {kAtFileBytes, "file size"},
          {kAtCreated, "header checksum"},
          {kAtFlags, "header checksum"},
          {kAtTokenDigest + 5, "header checksum"},
          {kAtHeaderDigest + 15, "header checksum"},
          {kSnapshotFixedBytes + 6, "header checksum"},
          {tokens - 1, "header checksum"},
          {tokens, "token digest"},
          {tokens + n - 4, "token digest"},
          {state, "state checksum"},
          {state + header.state_bytes / 2, "state checksum"},
          {last, "state checksum"}};
}

TEST_F(SnapshotDamage, TwentyPlacesAreTwentyWarningsAndRightAnswers) {
  const Model model = Model::load({.path = smollm2_path()});
  const Question question{.text = text_of_tokens(model, 64)};
  const RunReport cold = ask_anew(model, question, {});
  ASSERT_EQ(ask_anew(model, question, with_store()).documents[0].snapshot->state, "saved");
  const fs::path file = only_file();
  const std::string good = read_bytes(file);
  const auto places = twenty_places(SnapshotFile::open(file.string()).header());
  ASSERT_EQ(places.size(), 20u);
  for (const Place& place : places) {
    SCOPED_TRACE(std::to_string(place.at) + " " + place.field);
    std::string bad = good;
    bad[place.at] ^= 0x11;
    write_bytes(file, bad);

    const RunReport report = ask_anew(model, question, with_store());

    expect_read_anew(report, cold, file.string(), std::string(": ") + place.field + ": ");
    EXPECT_EQ(report.documents[0].snapshot->state, "saved") << "in place of the damaged one";
    EXPECT_NO_THROW(SnapshotFile::open(file.string()).verify());

    RunOptions named = with_store();
    named.snapshot.use = parent_ / "named";
    write_bytes(named.snapshot.use, bad);
    try {
      (void)ask_anew(model, question, named);
      ADD_FAILURE() << "a file that was asked for was not used, and nobody said so";
    } catch (const Error& e) {
      EXPECT_EQ(exit_code(e.code()), 3) << e.what();
      EXPECT_NE(std::string(e.what()).find(place.field), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(ask_anew(model, question, with_store()).documents[0].computed_tokens, 0);
}

// Every byte of the header flipped, the file cut behind each of them, and a hundred cuts and flips
// of what follows; on a tiny model, where a run takes milliseconds.
TEST_F(SnapshotDamage, EveryHeaderByteAndAHundredBodyPoints) {
  const Model model = Model::load({.path = tiny_path("llama")});
  const Question question{.text = text_of_tokens(model, 64), .use_template = false};
  EngineOptions options = bit_equal(256);
  options.threads = 1;
  const RunReport cold = ask_anew(model, question, {}, options);
  (void)ask_anew(model, question, with_store(), options);
  const fs::path file = only_file();
  const std::string good = read_bytes(file);
  const std::size_t n_header = SnapshotFile::open(file.string()).header().header_bytes;
  const std::size_t step = (good.size() - n_header) / 100;
  ASSERT_GT(step, 0u);
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < n_header; ++at) places.push_back(at);
  for (std::size_t i = 0; i < 100; ++i) places.push_back(n_header + i * step);
  for (const std::size_t at : places) {
    std::string flipped = good, cut = good.substr(0, at);
    flipped[at] ^= 0x40;
    for (const std::string& bad : {flipped, cut}) {
      SCOPED_TRACE(std::to_string(at) + (bad.size() < good.size() ? " cut" : " flipped"));
      write_bytes(file, bad);
      const RunReport report = ask_anew(model, question, with_store(), options);
      expect_read_anew(report, cold, file.string(), ": ");
      if (HasFailure()) return;  // of some hundred equal ones the first is enough
    }
  }
}

// Bytes that are no numbers, in the first, the middle and the last tensor, under checksums that are
// right: found before the cache is touched. One engine lives through all rounds, so whatever a
// round left in its cells or its sequence ids would be met by the next.
TEST_F(LongSnapshotDamage, TwentyRoundsOfWhatIsNoNumberLeaveNothingBehind) {
  const Model model = Model::load({.path = smollm2_path()});
  Engine lasting(model, bit_equal());
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(folder_);
    const Question question{.text = text_of_tokens(model, 64, 100u + static_cast<unsigned>(round)),
                            .n_agents = 8};
    const RunReport cold = ask_anew(model, question, with_store());
    ASSERT_EQ(cold.documents[0].snapshot->state, "saved");
    forge([&](std::vector<std::uint8_t>& state, int n) {
      spoil_numbers(state, nth_tensor(state, {ForkKind::kFull, false, n}, round),
                    round / 3 % 2 == 1);
    });
    const std::string path = only_file().string();

    const RunReport report = ask(lasting, question, with_store());

    expect_read_anew(report, cold, path, "not finite");
  }
}

// A restore that fails half way, with a part of the state in the cache already: the sequence id and
// the cells that it had are the next ones to be used.
TEST_F(LongSnapshotDamage, TwentyRestoresThatFailHalfWayLeaveNothingBehind) {
  const Model model = Model::load({.path = smollm2_path()});
  Engine lasting(model, bit_equal());
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(folder_);
    const Question question{.text = text_of_tokens(model, 64, 200u + static_cast<unsigned>(round)),
                            .n_agents = 8};
    const RunReport cold = ask_anew(model, question, with_store());
    ASSERT_EQ(cold.documents[0].snapshot->state, "saved");
    forge([&](std::vector<std::uint8_t>& state, int n) {
      change_type(state, nth_tensor(state, {ForkKind::kFull, false, n}, round));
    });
    const std::string path = only_file().string();

    const RunReport report = ask(lasting, question, with_store());

    expect_read_anew(report, cold, path, "bytes");
    EXPECT_TRUE(fs::exists(path + ".damaged"));
  }
}

}  // namespace
}  // namespace swarmkv::testing
